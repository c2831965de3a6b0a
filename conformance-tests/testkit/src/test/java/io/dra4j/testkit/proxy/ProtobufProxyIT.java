// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import io.dra4j.testkit.protobuf.Recording;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Protobuf through the proxy: untouched on the wire, JSON in the record. */
@Timeout(60)
class ProtobufProxyIT {

    private static final String SLICES = "/apis/resource.k8s.io/v1/resourceslices";
    private static final KubernetesProtobuf CODEC = new KubernetesProtobuf();
    private static final byte[] END = {};

    private final ObjectNode slice = tree("{'kind':'ResourceSlice','apiVersion':'resource.k8s.io/v1',"
            + "'metadata':{'name':'a'},'spec':{'driver':'d','allNodes':true,"
            + "'pool':{'name':'p','generation':1,'resourceSliceCount':1},"
            + "'devices':[{'name':'x','allowMultipleAllocations':true}]}}");
    private final ObjectNode refusal = tree("{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Failure',"
            + "'message':'it is invalid','reason':'Invalid','code':422}");
    private final BlockingQueue<byte[]> received = new LinkedBlockingQueue<>();
    private final BlockingQueue<byte[]> watched = new LinkedBlockingQueue<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private HttpServer server;
    private ApiProxy proxy;
    private boolean zipped;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
        proxy = ApiProxy.before(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort()));
    }

    @AfterEach
    void stop() {
        watched.add(END);
        proxy.close();
        server.stop(0);
        threads.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        received.add(exchange.getRequestBody().readAllBytes());
        if (exchange.getRequestMethod().equals("GET")) {
            watch(exchange);
            return;
        }
        byte[] body = CODEC.encode(refusal);
        if (zipped) {
            exchange.getResponseHeaders().set("Content-Encoding", "gzip");
            body = zip(body);
        }
        exchange.getResponseHeaders().set("Content-Type", KubernetesProtobuf.MEDIA_TYPE);
        exchange.sendResponseHeaders(422, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private void watch(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", KubernetesProtobuf.WATCH_TYPE);
        exchange.sendResponseHeaders(200, 0);
        try (exchange) {
            exchange.getResponseBody().flush(); // JDK 25 holds the headers back for a first write
            for (byte[] next = watched.take(); next != END; next = watched.take()) {
                exchange.getResponseBody().write(next);
                exchange.getResponseBody().flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static byte[] zip(byte[] plain) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
            zip.write(plain);
        }
        return bytes.toByteArray();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(proxy.url() + path))
                .timeout(Duration.ofSeconds(20))
                .header("Accept", "application/vnd.kubernetes.protobuf,application/json");
    }

    private HttpResponse<byte[]> post() throws Exception {
        return client.send(
                request(SLICES)
                        .header("Content-Type", KubernetesProtobuf.MEDIA_TYPE)
                        .POST(BodyPublishers.ofByteArray(CODEC.encode(slice)))
                        .build(),
                BodyHandlers.ofByteArray());
    }

    private InputStream openWatch() throws Exception {
        HttpResponse<InputStream> response =
                client.send(request(SLICES + "?watch=1").build(), BodyHandlers.ofInputStream());
        assertThat(response.headers().firstValue("Content-Type")).contains(KubernetesProtobuf.WATCH_TYPE);
        return response.body();
    }

    private static List<ObjectNode> events(byte[] watch) {
        return Recording.frames(watch).stream().map(CODEC::decodeEvent).toList();
    }

    @Test
    void bodiesPassUntouchedAndAreRecordedAsJson() throws Exception {
        HttpResponse<byte[]> response = post();

        assertThat(received.poll(30, TimeUnit.SECONDS)).isEqualTo(CODEC.encode(slice));
        assertThat(response.body()).isEqualTo(CODEC.encode(refusal));
        RecordedRequest recorded =
                proxy.await(Duration.ofSeconds(30), one -> !one.errorBody().isEmpty());
        assertThat(recorded.body()).contains("\"allowMultipleAllocations\":true");
        assertThat(tree(recorded.body())).isEqualTo(slice);
        assertThat(tree(recorded.errorBody())).isEqualTo(refusal);
        assertThat(recorded.client()).endsWith(" [application/vnd.kubernetes.protobuf,application/json]");
        assertThat(proxy.log()).contains("it is invalid");
    }

    @Test
    void aCompressedAnswerIsRecordedPlain() throws Exception {
        zipped = true;

        assertThat(post().body()).isEqualTo(zip(CODEC.encode(refusal)));

        RecordedRequest recorded =
                proxy.await(Duration.ofSeconds(30), one -> !one.errorBody().isEmpty());
        assertThat(tree(recorded.errorBody())).isEqualTo(refusal);
    }

    @Test
    void whatIsNoProtobufIsReported() throws Exception {
        client.send(
                request(SLICES)
                        .header("Content-Type", KubernetesProtobuf.MEDIA_TYPE)
                        .POST(BodyPublishers.ofString("{}"))
                        .build(),
                BodyHandlers.ofByteArray());

        assertThat(proxy.requests().get(0).body()).startsWith("(2 bytes of protobuf that cannot");
    }

    @Test
    void anInjectedStatusIsOfTheClientsFormat() throws Exception {
        try (Injection fault = proxy.inject(Fault.status(409, "Conflict"))) {
            HttpResponse<byte[]> response = post();

            assertThat(response.statusCode()).isEqualTo(409);
            assertThat(response.headers().firstValue("Content-Type")).contains(KubernetesProtobuf.MEDIA_TYPE);
            assertThat(CODEC.decode(response.body()).path("reason").asText()).isEqualTo("Conflict");
            assertThat(fault.over()).isFalse();
        }
    }

    @Test
    void anInjectedEventIsOfTheClientsFormat() throws Exception {
        try (Injection fault = proxy.inject(Fault.gone())) {
            assertThat(events(openWatch().readAllBytes()))
                    .extracting(event -> event.at("/object/code").asInt())
                    .containsExactly(410);
            assertThat(fault.over()).isFalse();
        }
    }

    @Test
    void aWatchExpiresBetweenTwoFrames() throws Exception {
        byte[] frame = CODEC.frame("ADDED", CODEC.encode(slice));
        InputStream watch = openWatch();
        watched.add(frame);
        watched.add(Arrays.copyOf(frame, 17));
        assertThat(watch.readNBytes(frame.length + 17)).startsWith(frame);

        proxy.expireWatches();
        watched.add(Arrays.copyOfRange(frame, 17, frame.length));

        byte[] rest = watch.readAllBytes();
        assertThat(rest).startsWith(Arrays.copyOfRange(frame, 17, frame.length));
        int behind = frame.length - 17;
        List<ObjectNode> events = events(Arrays.copyOfRange(rest, behind, rest.length));
        assertThat(events).extracting(event -> event.path("type").asText()).containsExactly("ERROR");
    }
}
