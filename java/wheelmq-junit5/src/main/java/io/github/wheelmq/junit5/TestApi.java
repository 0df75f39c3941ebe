package io.github.wheelmq.junit5;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonDeserializer;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;

/** The server's HTTP API below /test. */
final class TestApi {
    /** Beyond everything that the server itself waits for. */
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    private static final HttpClient HTTP =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build();

    private static final Gson GSON = new GsonBuilder()
        .registerTypeAdapter(byte[].class,
            (JsonDeserializer<byte[]>) (json, type, context) -> Base64.getDecoder().decode(json.getAsString()))
        .create();

    private final URI base;

    TestApi(URI base) {
        this.base = base;
    }

    <T> T get(String path, Class<T> type) {
        return parse(call("GET", path, null), type);
    }

    /** Gets an answer as text. */
    String text(String path) {
        return call("GET", path, null);
    }

    <T> T post(String path, JsonObject body, Class<T> type) {
        return parse(call("POST", path, body), type);
    }

    void post(String path) {
        call("POST", path, null);
    }

    void put(String path) {
        call("PUT", path, null);
    }

    void delete(String path) {
        call("DELETE", path, null);
    }

    /** A name as it is written in a path or a query. */
    static String encode(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    static <T> T parse(String json, Class<T> type) {
        try {
            return GSON.fromJson(json, type);
        } catch (JsonParseException e) {
            throw new WheelMQException("internal", "the answer is not the expected JSON: " + json, e);
        }
    }

    private String call(String method, String path, JsonObject body) {
        BodyPublisher content = body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body.toString());
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path)).timeout(TIMEOUT).method(method, content);
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        HttpResponse<String> response;
        try {
            response = HTTP.send(request.build(), BodyHandlers.ofString());
        } catch (IOException e) {
            throw new WheelMQException("connection", method + " " + base.resolve(path) + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new WheelMQException("interrupted", method + " " + base.resolve(path) + " was interrupted", e);
        }
        if (response.statusCode() >= 300) {
            throw refused(response);
        }
        return response.body();
    }

    /** The members of an answer that says what is wrong. */
    private static final class Problem {
        private String error;
        private String kind;
    }

    private static WheelMQException refused(HttpResponse<String> response) {
        Problem problem = null;
        try {
            problem = GSON.fromJson(response.body(), Problem.class);
        } catch (JsonParseException e) {
            // Not an answer of the API: shown as it is.
        }
        if (problem == null || problem.kind == null) {
            return new WheelMQException("internal",
                response.uri() + " answered " + response.statusCode() + ": " + response.body());
        }
        return new WheelMQException(problem.kind, problem.error);
    }
}
