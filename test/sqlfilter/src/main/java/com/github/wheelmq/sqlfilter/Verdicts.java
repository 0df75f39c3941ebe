package com.github.wheelmq.sqlfilter;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.filter.FilterFactory;
import org.apache.rocketmq.filter.expression.EvaluationContext;
import org.apache.rocketmq.filter.expression.Expression;
import org.apache.rocketmq.filter.expression.MQFilterException;

/**
 * Reads expressions, each with the properties of some messages, and answers what the official filter
 * says of them. A request is the expression, a count, and so many properties as a record stores them;
 * texts are UTF-8 behind their length, all numbers four bytes. The answer is one letter for each
 * properties: T(rue), F(alse), N(ull), E(rror), or a single R when the expression is refused.
 */
public final class Verdicts {
    private Verdicts() {}

    public static void main(String[] args) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
        for (String text = next(in); text != null; text = next(in)) {
            Expression expression = compile(text);
            int messages = in.readInt();
            if (expression == null) {
                out.writeByte('R');
            }
            for (int i = 0; i < messages; i++) {
                String properties = next(in);
                if (expression != null) {
                    out.writeByte(evaluate(expression, MessageDecoder.string2messageProperties(properties)));
                }
            }
            if (in.available() == 0) {
                out.flush();
            }
        }
        out.flush();
    }

    private static Expression compile(String text) {
        try {
            return FilterFactory.INSTANCE.get("SQL92").compile(text);
        } catch (MQFilterException e) {
            return null;
        }
    }

    private static char evaluate(Expression expression, Map<String, String> properties) {
        Object verdict;
        try {
            verdict = expression.evaluate(new EvaluationContext() {
                @Override
                public Object get(String name) {
                    return properties.get(name);
                }

                @Override
                public Map<String, Object> keyValues() {
                    throw new UnsupportedOperationException();
                }
            });
        } catch (Throwable e) {
            return 'E';
        }
        return verdict == null ? 'N' : verdict == Boolean.TRUE ? 'T' : verdict == Boolean.FALSE ? 'F' : '?';
    }

    /** Returns null at the end of the input. */
    private static String next(DataInputStream in) throws IOException {
        int first = in.read();
        if (first < 0) {
            return null;
        }
        int length = first << 24 | in.readUnsignedByte() << 16 | in.readUnsignedShort();
        byte[] text = new byte[length];
        in.readFully(text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
