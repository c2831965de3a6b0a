// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.jdkhttp.JdkHttpClientFactory;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Reads objects of an API server as JSON; lists come in chunks, so that few objects are in memory.
 *
 * <p>Thread-safe.
 */
public final class ApiReader implements AutoCloseable {

    /** One claim with deep parameters, which the API accepts, must not make a list unreadable. */
    private static final JsonMapper JSON = new JsonMapper(JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(Integer.MAX_VALUE)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .build())
            .build());

    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String TYPE = "application/json";

    /** Servers from 1.38 on with the gate ManagedFieldsOptOut leave them out; others ignore the parameter. */
    private static final String UNMANAGED = TYPE + ";drop=metadata.managedFields," + TYPE;

    private static final String WITH_MANAGED_FIELDS = "/resourceslices"; // which have the time of the last write

    private static final String SMALL = "/resourceclaims";
    private static final int SMALL_TIMES = 4;
    private static final String SELECTOR = "-SelectorManager";
    private static final String TRUSTED = "javax.net.ssl.trustStore";
    private static final String GZIP = "gzip";
    private static final int NOT_FOUND = 404;
    private static final int GONE = 410;
    private static final int RETRIES = 4; // 1.5 s in total; the default of 10 takes 20 s for a wrong address
    private static final int FORBIDDEN = 403;

    private final HttpClient http;
    private final String server;
    private final String namespace;
    private final int chunk;

    /** Reads from a configuration's server, with this many objects of a list per request. */
    ApiReader(Config config, int chunk) {
        config.setRequestRetryBackoffLimit(RETRIES);
        HttpClient.Builder builder = builder(config);
        HttpClientUtils.createApplicableInterceptors(config, new JdkHttpClientFactory())
                .forEach(builder::addOrReplaceInterceptor);
        this.http = builder.build();
        String url = config.getMasterUrl();
        this.server = url.endsWith("/") ? url : url + "/";
        this.namespace = config.getNamespace() == null ? "default" : config.getNamespace();
        this.chunk = chunk;
    }

    /** Trusts only the named CA, like kubectl; the client would add the JVM's CAs, which take 50 ms to read. */
    private static synchronized HttpClient.Builder builder(Config config) {
        if (config.getCaCertData() == null && config.getCaCertFile() == null) {
            return new JdkHttpClientFactory().newBuilder(config);
        }
        String before = System.getProperty(TRUSTED);
        System.setProperty(TRUSTED, "NONE");
        try {
            return new JdkHttpClientFactory().newBuilder(config);
        } finally {
            if (before == null) {
                System.clearProperty(TRUSTED);
            } else {
                System.setProperty(TRUSTED, before);
            }
        }
    }

    /**
     * Connects as kubectl does.
     *
     * @param kubeconfig a file; {@code null} for {@code KUBECONFIG}, {@code ~/.kube/config}, or the
     *     service account of a pod
     * @param context a context of it; {@code null} for the current one
     * @throws ReadException if there is no such file or context, or it can't be used
     */
    public static ApiReader connect(@Nullable Path kubeconfig, @Nullable String context) {
        try {
            return new ApiReader(Kubeconfig.read(kubeconfig, context), 500);
        } catch (KubernetesClientException | IllegalArgumentException e) {
            Object reason = e.getCause() == null ? e.getMessage() : e.getCause();
            throw new ReadException("The kubeconfig can't be used: " + reason, e);
        }
    }

    /** Loads and computes what the first connection needs, while the command line is still parsed. */
    public static void prepare() {
        try {
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, new TrustManager[0], null);
            SSLEngine hello = tls.createSSLEngine();
            hello.setUseClientMode(true);
            int size = hello.getSession().getPacketBufferSize();
            hello.wrap(ByteBuffer.allocate(0), ByteBuffer.allocate(size)); // the tables of curves take 0.1 s
        } catch (GeneralSecurityException | SSLException e) {
            throw new IllegalStateException("TLS can't be used", e);
        }
        Config nowhere = Config.empty();
        nowhere.setMasterUrl("https://localhost/");
        nowhere.setTrustCerts(true); // needs no file of certificates
        new ApiReader(nowhere, 1).close();
    }

    public String namespace() {
        return namespace;
    }

    /**
     * Reads an object.
     *
     * @param path below the server, such as {@code api/v1/nodes/n}
     * @return the object; empty if it does not exist, or is not served
     * @throws ReadException if the server refuses it, or does not answer
     */
    public Optional<JsonNode> find(String path) {
        HttpResponse<byte[]> response = get(path);
        return response.code() == NOT_FOUND ? Optional.empty() : Optional.of(tree(path, expect(path, response)));
    }

    /**
     * Reads the objects of a list, one after the other; a list that expires before it is complete is an error.
     *
     * @param path the path of the collection; its query may be empty
     * @throws ReadException if the server refuses it, or does not answer
     */
    public void list(String path, Consumer<JsonNode> each) {
        list(path, each, () -> {});
    }

    /** Reads a list, and notifies as soon as its last page has arrived, before that page's objects are processed. */
    void list(String path, Consumer<JsonNode> each, Runnable arrived) {
        int limit = path.endsWith(SMALL) ? SMALL_TIMES * chunk : chunk;
        String next = "";
        do {
            String query = "limit=" + limit + (next.isEmpty() ? "" : "&continue=" + encoded(next));
            String page = path + (path.contains("?") ? "&" : "?") + query;
            JsonNode list = tree(path, expect(path, get(page)));
            next = list.at("/metadata/continue").asText();
            if (next.isEmpty()) {
                arrived.run();
            }
            list.path("items").forEach(each);
        } while (!next.isEmpty());
    }

    public static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20"); // a path has a plus otherwise
    }

    private HttpResponse<byte[]> get(String path) {
        return send(path, null);
    }

    /** Sends a GET, or a POST if there is a body. */
    HttpResponse<byte[]> send(String path, @Nullable JsonNode body) {
        String method = body == null ? "GET" : "POST";
        try {
            return http.sendAsync(
                            http.newHttpRequestBuilder()
                                    .uri(server + path)
                                    .header("Accept-Encoding", GZIP)
                                    .header("Accept", path.contains(WITH_MANAGED_FIELDS) ? TYPE : UNMANAGED)
                                    .method(method, TYPE, body == null ? null : body.toString())
                                    .build(),
                            byte[].class)
                    .get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new ReadException(
                    "The API server %s did not answer within %d s: %s %s"
                            .formatted(server, LIMIT.toSeconds(), method, path),
                    e);
        } catch (ExecutionException e) {
            throw new ReadException("The API server %s can't be reached: %s".formatted(server, e.getCause()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ReadException("Interrupted", e);
        }
    }

    private static byte[] expect(String path, HttpResponse<byte[]> response) {
        if (response.isSuccessful()) {
            return response.body() == null ? new byte[0] : response.body();
        }
        String what = path.split("\\?", 2)[0];
        throw new ReadException(
                switch (response.code()) {
                    case NOT_FOUND -> "The server does not serve " + what;
                    case GONE -> what + " changed while it was read; try again";
                    case FORBIDDEN -> "You may not read %s: %s".formatted(what, message(response.body()));
                    default -> "GET %s was answered %d: %s".formatted(what, response.code(), message(response.body()));
                });
    }

    private static String message(byte @Nullable [] body) {
        try {
            return json(body).path("message").asText("no message");
        } catch (IOException e) {
            return "not JSON";
        }
    }

    /** Reads the body of an answer, compressed or not; missing if it is empty. */
    static JsonNode json(byte @Nullable [] answer) throws IOException {
        byte[] body = answer == null ? new byte[0] : answer;
        boolean isCompressed =
                body.length > 1 && ((body[1] & 0xff) << 8 | body[0] & 0xff) == GZIPInputStream.GZIP_MAGIC;
        InputStream bytes = new ByteArrayInputStream(body);
        return JSON.readTree(isCompressed ? new GZIPInputStream(bytes) : bytes);
    }

    private static JsonNode tree(String path, byte[] body) {
        try {
            return json(body);
        } catch (JsonProcessingException e) {
            throw new ReadException("The answer to GET %s is not JSON: %s".formatted(path, e.getOriginalMessage()), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // not for bytes in memory
        }
    }

    @Override
    public void close() {
        http.close();
    }

    /**
     * Ends the threads of all HTTP clients of this JVM.
     *
     * <p>Otherwise they end when their client is collected, and an exiting JVM waits 0.3 s for threads in native code.
     */
    public static void endConnections() throws InterruptedException {
        Thread[] threads = new Thread[Thread.activeCount() + 1];
        int count = Thread.enumerate(threads);
        for (Thread one : Arrays.copyOf(threads, count)) {
            if (one.getName().endsWith(SELECTOR)) {
                one.interrupt();
                one.join(LIMIT.toMillis());
            }
        }
    }
}
