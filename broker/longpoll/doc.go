// Package longpoll holds the pulls, pops and notifications that found nothing until a record
// arrives in their queue, their time is up, or their connection goes. No queue is polled: arrivals
// come from the store's dispatch, time-outs from one heap of deadlines on the wire clock.
package longpoll
