// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static io.dra4j.testkit.kubelet.WireBytes.DATA;
import static io.dra4j.testkit.kubelet.WireBytes.END_HEADERS;
import static io.dra4j.testkit.kubelet.WireBytes.END_STREAM;
import static io.dra4j.testkit.kubelet.WireBytes.HEADERS;
import static io.dra4j.testkit.kubelet.WireBytes.PREFACE;
import static io.dra4j.testkit.kubelet.WireBytes.SETTINGS;
import static io.dra4j.testkit.kubelet.WireBytes.frame;
import static io.dra4j.testkit.kubelet.WireBytes.headers;
import static io.dra4j.testkit.kubelet.WireBytes.join;
import static io.dra4j.testkit.kubelet.WireBytes.message;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.kubelet.dra.v1.Claim;
import io.dra4j.kubelet.dra.v1.NodePrepareResourcesRequest;
import io.dra4j.kubelet.probe.v1.HealthCheckRequest;
import io.dra4j.kubelet.probe.v1.HealthGrpc;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.RawCalls;
import io.dra4j.testkit.kubelet.WireBytes;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A driver that others on the node call in ways that no kubelet would. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class HardeningIT {

    private static final int FUZZED = Boolean.getBoolean("dra4j.full") ? 10_000 : 2_000;
    private static final long SEED = Long.getLong("dra4j.seed", 20261121);
    private static final int HALF_OPEN = 1_000;

    private static final String DRA = "k8s.io.kubelet.pkg.apis.dra.";
    private static final String PREPARE = DRA + "v1.DRAPlugin/NodePrepareResources";
    private static final List<String> SERVICE_METHODS =
            List.of(
                    PREPARE,
                    DRA + "v1.DRAPlugin/NodeUnprepareResources",
                    DRA + "v1beta1.DRAPlugin/NodePrepareResources",
                    DRA + "v1beta1.DRAPlugin/NodeUnprepareResources",
                    "v1.DRAResourceHealth/NodeWatchResources");
    private static final List<String> REGISTRATION_METHODS =
            List.of(
                    "pluginregistration.Registration/GetInfo",
                    "pluginregistration.Registration/NotifyRegistrationStatus");

    private static DriverUnderTest driver;
    private static KubeletClaim claim;
    private static RawCalls service;
    private static RawCalls registration;

    @BeforeAll
    static void start() throws Exception {
        driver = new DriverUnderTest();
        driver.start("--num-devices=2", "--healthcheck-port=0");
        driver.awaitRegistered();
        claim = driver.allocate("claim", "gpu-0");
        service = new RawCalls(driver.plugins.resolve(DRIVER).resolve("dra.sock"));
        registration = new RawCalls(driver.registry.resolve(DRIVER + "-reg.sock"));
    }

    @AfterAll
    static void stop() {
        service.close();
        registration.close();
        driver.close();
    }

    @AfterEach
    void theNextCallsAreAnswered() {
        nextCallsAreAnswered();
    }

    private static void nextCallsAreAnswered() {
        assertThat(driver.kubelet.prepare(DRIVER, List.of(claim)).complaint()).isEmpty();
        assertThat(driver.kubelet.unprepare(DRIVER, List.of(claim)).complaint()).isEmpty();
        try (RawCalls fresh = new RawCalls(driver.registry.resolve(DRIVER + "-reg.sock"))) {
            assertThat(fresh.call(REGISTRATION_METHODS.get(0), new byte[0]).code()).isEqualTo("OK");
        }
    }

    private static NodePrepareResourcesRequest request() {
        return NodePrepareResourcesRequest.newBuilder()
                .addClaims(
                        Claim.newBuilder()
                                .setNamespace(claim.namespace())
                                .setName(claim.name())
                                .setUid(claim.uid()))
                .build();
    }

    @Test
    @Tag("DRA-SEC-01")
    void socketsAndStateAreClosedToOtherUsers() throws IOException {
        assertThat(mode(driver.registry.resolve(DRIVER + "-reg.sock"))).isEqualTo("rw-------");
        Path own = driver.plugins.resolve(DRIVER);
        assertThat(mode(own)).isEqualTo("rwxr-x---");
        assertThat(mode(own.resolve("dra.sock"))).isEqualTo("rw-------");
        try (Stream<Path> files = Files.list(own)) {
            assertThat(files.toList())
                    .hasSizeGreaterThan(1)
                    .allSatisfy(file -> assertThat(mode(file)).as("%s", file).endsWith("---"));
        }
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    @Test
    @Tag("DRA-SEC-03")
    void badFramesEndTheirConnectionAlone() throws IOException {
        byte[] begin = join(PREFACE, frame(SETTINGS, 0, 0, new byte[0]));
        byte[] open = join(begin, frame(HEADERS, END_HEADERS, 1, headers(PREPARE)));
        List<byte[]> bad =
                List.of(
                        "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                        new byte[] {0x16, 0x03, 0x01, 0x02, 0x00, 0x01}, // TLS
                        join(begin, frame(0xffffff, DATA, 0, 1, new byte[100])),
                        join(begin, frame(HEADERS, END_HEADERS, 0, headers(PREPARE))),
                        join(begin, frame(HEADERS, END_HEADERS, 2, headers(PREPARE))),
                        join(begin, frame(HEADERS, END_HEADERS, 1, new byte[] {-1, -1, -1, -1})),
                        join(begin, frame(HEADERS, END_HEADERS, 1, new byte[200_000])),
                        join(begin, frame(SETTINGS, 0, 0, new byte[5])),
                        join(begin, frame(0x77, 0xff, 7, new byte[9])),
                        join(open, frame(DATA, END_STREAM, 1, message(-1, new byte[3]))),
                        join(open, frame(DATA, END_STREAM, 1, message(5 << 20, new byte[3]))),
                        join(open, frame(DATA, END_STREAM, 1, new byte[] {1, 0, 0, 0, 1, 7})),
                        join(open, frame(DATA, END_STREAM, 3, message(0, new byte[0]))));
        for (byte[] bytes : bad) {
            service.send(bytes);
            registration.send(bytes);
        }
        System.out.printf("DRA-SEC-03: %d bad beginnings, to both sockets%n", bad.size());
    }

    @Test
    @Tag("DRA-SEC-03")
    void badMessagesAreRefused() {
        byte[] noUtf8 = request().toByteArray();
        noUtf8[noUtf8.length - 1] = (byte) 0xff;
        assertThat(service.call(PREPARE, noUtf8).code()).isNotEqualTo("OK");
        assertThat(service.call(PREPARE, new byte[] {0x0a, 0x7f, 1}).code()).isNotEqualTo("OK");
        for (RawCalls socket : List.of(service, registration)) {
            String method = socket == service ? PREPARE : REGISTRATION_METHODS.get(0);
            assertThat(socket.call(method, new byte[(4 << 20) + 1]).code())
                    .isEqualTo("RESOURCE_EXHAUSTED");
        }
        assertThat(service.call("v9.DRAPlugin/X", new byte[0]).code()).isEqualTo("UNIMPLEMENTED");
    }

    @Test
    @Tag("DRA-SEC-03")
    void aThousandHalfOpenConnectionsKeepNobodyOut() throws IOException {
        List<SocketChannel> open = new ArrayList<>();
        try {
            for (int i = 0; i < HALF_OPEN; i++) {
                SocketChannel raw = (i % 2 == 0 ? service : registration).connect();
                open.add(raw);
                if (i % 4 < 2) {
                    raw.write(ByteBuffer.wrap(PREFACE, 0, 1 + i % PREFACE.length));
                }
            }
            nextCallsAreAnswered();
            System.out.printf("DRA-SEC-03: %d half-open connections%n", open.size());
        } finally {
            for (SocketChannel raw : open) {
                raw.close();
            }
        }
    }

    @Test
    @Tag("DRA-SEC-03")
    void theDriverOutlivesWhateverBytesItIsSent() throws IOException {
        Random random = new Random(SEED);
        Map<String, Integer> codes = new TreeMap<>();
        int raw = 0;
        for (int i = 0; i < FUZZED; i++) {
            boolean toService = random.nextInt(5) > 0;
            RawCalls socket = toService ? service : registration;
            List<String> methods = toService ? SERVICE_METHODS : REGISTRATION_METHODS;
            String method = methods.get(random.nextInt(methods.size()));
            byte[] body = WireBytes.mutate(request().toByteArray(), random);
            switch (random.nextInt(3)) {
                case 0 -> socket.send(WireBytes.random(random, 2_000));
                case 1 -> socket.send(WireBytes.mutate(WireBytes.call(method, body), random));
                default -> codes.merge(socket.call(method, body).code(), 1, Integer::sum);
            }
            raw = FUZZED - codes.values().stream().mapToInt(Integer::intValue).sum();
            if (i % 500 == 499) {
                nextCallsAreAnswered();
            }
        }
        assertThat(codes).containsKey("OK").hasSizeGreaterThan(1);
        System.out.printf(
                "Fuzzed %d byte strings over the sockets, seed %d: %d connections of their own,"
                        + " calls that ended %s%n",
                FUZZED, SEED, raw, codes);
    }

    @Test
    void aWholeCallByHandIsUnderstood() throws IOException {
        try (SocketChannel raw = service.connect()) {
            raw.write(ByteBuffer.wrap(WireBytes.call(PREPARE, request().toByteArray())));
            StringBuilder answer = new StringBuilder();
            ByteBuffer some = ByteBuffer.allocate(8192);
            while (answer.indexOf("gpu-0") < 0 && raw.read(some.clear()) >= 0) {
                answer.append(StandardCharsets.ISO_8859_1.decode(some.flip()));
            }
            assertThat(answer).as("else the bytes fuzz nothing").contains("gpu-0");
        }
    }

    @Test
    void probesCallBothSockets() throws IOException {
        Matcher port = Pattern.compile("health checks on port (\\d+)").matcher(driver.log());
        assertThat(port.find()).as(driver.log()).isTrue();
        ManagedChannel channel =
                NettyChannelBuilder.forAddress("localhost", Integer.parseInt(port.group(1)))
                        .usePlaintext()
                        .build();
        Path socket = driver.plugins.resolve(DRIVER).resolve("dra.sock");
        Path aside = driver.root.resolve("aside");
        try {
            assertThat(probe(channel)).isEqualTo("SERVING");
            Files.move(socket, aside);
            assertThat(probe(channel)).isEqualTo("NOT_SERVING");
            Files.move(aside, socket);
            assertThat(probe(channel)).isEqualTo("SERVING");
        } finally {
            channel.shutdownNow();
        }
    }

    /** The kubelet would take the killed instance for registered as long as its socket is there. */
    @ParameterizedTest
    @CsvSource({
        "0f8fad5b-d9cb-469f-a165-70867728950e, 7c9e6679-7425-40de-944b-e07fc1f90ae7",
        "one, two",
    })
    @Tag("DRA-UPG-04")
    void theSocketsOfAKilledInstanceGoWhenAnotherStarts(String killed, String next)
            throws Exception {
        try (DriverUnderTest rolling = new DriverUnderTest()) {
            Path foreign = rolling.registry.resolve("other.example.com-" + killed + "-reg.sock");
            ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                    .bind(UnixDomainSocketAddress.of(foreign))
                    .close(); // the file stays: a dead socket of somebody else
            rolling.start("--pod-uid", killed);
            rolling.awaitRegistered();
            rolling.restartAfterKill("--pod-uid", next);

            try (Stream<Path> registered = Files.list(rolling.registry)) {
                assertThat(registered)
                        .hasSize(2)
                        .contains(foreign)
                        .anyMatch(path -> path.getFileName().toString().startsWith(DRIVER + "-"));
            }
            try (Stream<Path> own = Files.list(rolling.plugins.resolve(DRIVER))) {
                assertThat(own)
                        .extracting(path -> path.getFileName().toString())
                        .contains("dra-" + next + ".sock")
                        .noneMatch(name -> name.contains(killed) || name.startsWith("."));
            }
        }
    }

    private static String probe(ManagedChannel channel) {
        return HealthGrpc.newBlockingStub(channel)
                .withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .check(HealthCheckRequest.newBuilder().setService("liveness").build())
                .getStatus()
                .name();
    }
}
