// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.grpc.BindableService;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/** Keeps other records of claims, or trusts them less; serves on other sockets, or finds the node elsewhere. */
final class StateVariants {

    private StateVariants() {}

    /** Knows of claims what is in their specs. */
    @Altered(id = "H-10")
    static final class NoState extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> read() {
            return Optional.empty();
        }

        @Override
        void write(Map<String, ObjectNode> claims) {}
    }

    @Altered(id = "H-13")
    static final class CheckingFirst extends BareDriver {
        @Override
        void start() throws IOException {
            calls.work.state.read().ifPresent(LinkedHashMap::new);
            if (Files.isDirectory(registry.path)) {
                Files.delete(registry.path.resolve("in-the-way"));
                Files.delete(registry.path);
            }
            super.start();
        }
    }

    static final class Noting extends StateFile {
        boolean lost;

        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            lost = true;
            return super.damaged(problem);
        }
    }

    @Altered(id = "H-64", with = Noting.class)
    static final class AllocatedIsHeld extends ClaimWork {
        private final Set<String> released = new HashSet<>();

        @Override
        void checkFree(ObjectNode fresh, Map<String, ObjectNode> held) {
            super.checkFree(fresh, held);
            JsonNode claims =
                    ((Noting) state).lost ? driver.api.get("/apis/resource.k8s.io/v1/resourceclaims") : Json.object();
            for (JsonNode claim : claims.path("items")) {
                String uid = claim.at("/metadata/uid").asText();
                if (!uid.equals(fresh.path("uid").asText())
                        && !released.contains(uid)
                        && !results(claim).isEmpty()) {
                    ObjectNode other = plan(new ClaimId("", "", uid), claim);
                    fresh.path("devices").forEach(device -> checkFree(device, other));
                }
            }
        }

        @Override
        void release(String uid) {
            super.release(uid);
            released.add(uid);
        }
    }

    /** Claims whose specs vanished while it was down, in the same boot, are not to be trusted. */
    @Altered(id = "H-23b")
    static final class OfThisBoot extends ClaimWork {
        private final Set<String> doubted = new HashSet<>();

        @Override
        void start() {
            super.start();
            for (String uid : state.locked(() -> Set.copyOf(held().keySet()))) {
                if (!Files.exists(driver.cdi.file(uid))) {
                    doubted.add(uid);
                }
            }
        }

        @Override
        ObjectNode establish(ClaimId id, JsonNode claim) {
            if (doubted.contains(id.uid())) {
                throw new Refused("The CDI spec of the claim was removed by another process");
            }
            return super.establish(id, claim);
        }
    }

    /** The hook renumber moves the names, and claims are refused then. */
    @Altered(id = "H-39", with = SliceMutants.ByMinor.class)
    static final class Wary extends ClaimWork {
        @Override
        void check(ClaimId id) {
            super.check(id);
            if (((SliceMutants.ByMinor) driver.inventory).moved) {
                throw new Refused("The device of the claim is other hardware now");
            }
        }
    }

    /** The names are those of the hardware: the hook renumber changes nothing. */
    @Altered(id = "H-40")
    static final class Steady extends Inventory {}

    @Altered(id = "H-82")
    static class Slots extends ClaimWork {
        /** Under the lock of the node. */
        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            ObjectNode fresh = super.plan(id, claim);
            int slot = slot(id.uid());
            for (JsonNode device : fresh.put("slot", slot).path("devices")) {
                ((ObjectNode) device).withArray("env").add("SLOT=" + slot);
            }
            return fresh;
        }

        int slot(String uid) {
            Set<Integer> taken = taken();
            int slot = 0;
            while (taken.contains(slot)) {
                slot++;
            }
            return slot;
        }

        Set<Integer> taken() {
            return held().values().stream()
                    .map(held -> held.path("slot").asInt())
                    .collect(Collectors.toSet());
        }
    }

    /** Claims that share a queue are none the worse. */
    @Altered(id = "H-83a")
    static final class QueuesByHash extends Slots {
        @Override
        int slot(String uid) {
            return Math.floorMod(uid.hashCode(), 64);
        }
    }

    @Altered(id = "H-83b")
    static final class QueuesByChance extends Slots {
        @Override
        int slot(String uid) {
            return ThreadLocalRandom.current().nextInt(16);
        }
    }

    @Altered(id = "H-5")
    static final class OneSocket extends BareDriver {
        @Override
        void serve() {}

        @Override
        void register() throws IOException {
            List<BindableService> all = new ArrayList<>(services());
            all.add(parts.make(Registration.class));
            registry.start(all);
        }
    }

    /**
     * A plugin of the container runtime, which registers as "00-dracpu", and answers one request to
     * configure and one to synchronize it.
     */
    @Altered(id = "H-72")
    static final class NriPlugin extends BareDriver {
        private static final String REGISTER =
                "00000002000000460000003c0000000101000a1c6e72692e706b672e6170692e7631616c706861312e52756e74696d65120e"
                        + "5265676973746572506c7567696e1a0c0a0664726163707512023030";
        private static final byte[] OK = {10, 0};

        @Override
        void start() throws IOException {
            SocketChannel runtime = SocketChannel.open(UnixDomainSocketAddress.of("/var/run/nri/nri.sock"));
            Life.current().closesAtEnd(runtime);
            runtime.write(ByteBuffer.wrap(HexFormat.of().parseHex(REGISTER)));
            DataInputStream in = new DataInputStream(Channels.newInputStream(runtime));
            for (String word : List.of("", "Configure", "Synchronize")) {
                int connection = in.readInt();
                byte[] message = in.readNBytes(in.readInt());
                if (!new String(message, StandardCharsets.US_ASCII).contains(word)) {
                    throw new IOException("NRI: no " + word);
                }
                if (connection == 1) {
                    ByteBuffer answer = ByteBuffer.allocate(20).putInt(1).putInt(12);
                    answer.putInt(OK.length).put(message, 4, 4).putShort((short) 0x200);
                    runtime.write(answer.put(OK).flip());
                }
            }
            super.start();
        }
    }

    /** As {@code http.Server} on ":80", with the error of the loser ending it. */
    @Altered(id = "H-70")
    static final class FixedPort extends BareDriver {
        private static final int PORT = 9_347;

        @Override
        void start() throws IOException {
            ServerSocket port = new ServerSocket(PORT, 1, InetAddress.getLoopbackAddress());
            Life.current().closesAtEnd(port);
            super.start();
        }
    }

    /** Finds the API server as client libraries do in a container of a cluster. */
    @Altered(id = "H-21")
    static final class InCluster extends ApiClient {
        private static final Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");

        InCluster() {
            super(
                    "https://%s:%s"
                            .formatted(
                                    System.getenv("KUBERNETES_SERVICE_HOST"), System.getenv("KUBERNETES_SERVICE_PORT")),
                    ACCOUNT.resolve("ca.crt"),
                    ACCOUNT.resolve("token"));
        }
    }

    /** It handles SIGTERM when it has published: until then, that kills it. */
    @Altered(id = "H-61")
    static final class Slow extends BareDriver {
        @Override
        void stop() {
            if (!publisher.published) {
                Life.current().end(143);
            }
            super.stop();
        }
    }

    @Altered(id = "H-23a")
    static final class WithoutFolder extends BareDriver {
        @Override
        void start() throws IOException {
            if (!Files.isDirectory(settings.data())) {
                throw new IOException("listen unix " + servicePath() + ": bind: no such file or directory");
            }
            super.start();
        }
    }
}
