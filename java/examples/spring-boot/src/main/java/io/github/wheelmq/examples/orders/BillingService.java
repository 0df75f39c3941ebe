package io.github.wheelmq.examples.orders;

import org.springframework.stereotype.Service;

/** Another company's service, which is down at times. */
@Service
public class BillingService {
    public void bill(String id) {
        System.out.println("billed " + id);
    }
}
