// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

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
import java.util.HexFormat;
import java.util.List;

/** Serves other services, on other sockets, or finds the node elsewhere. */
final class SocketVariants {

    private SocketVariants() {}

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

    @Altered(id = "H-6")
    static final class V1Only extends BareDriver {
        @Override
        List<BindableService> services() {
            return super.services().stream()
                    .filter(each -> !(each instanceof PluginV1beta1))
                    .toList();
        }
    }

    @Altered(id = "H-6b")
    static final class V1beta1Only extends BareDriver {
        @Override
        List<BindableService> services() {
            return super.services().stream()
                    .filter(each -> !(each instanceof PluginV1))
                    .toList();
        }
    }

    @Altered(id = "H-20")
    static final class StandardPaths extends BareDriver {
        @Override
        Settings settings(Settings given) {
            return given.with("--cdi-root", "/var/run/cdi")
                    .with("--kubelet-plugins-directory-path", "/var/lib/kubelet/plugins")
                    .with("--kubelet-registrar-directory-path", "/var/lib/kubelet/plugins_registry");
        }
    }

    /** {@link StandardPaths} without the setting: the suite finds it there. */
    @Altered(id = "H-71")
    static final class HardWired extends BareDriver {
        @Override
        Settings settings(Settings given) {
            return given.with("--cdi-root", "/etc/cdi")
                    .with("--kubelet-plugins-directory-path", "/var/lib/kubelet/plugins")
                    .with("--kubelet-registrar-directory-path", "/var/lib/kubelet/plugins_registry");
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
