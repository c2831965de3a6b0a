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

    @Variant(
            id = "H-5",
            what = "the registration socket is the service socket",
            with = WithoutEndpoint.class,
            passes = {
                "DRA-REG-01", "DRA-REG-05", "DRA-REG-06",
                "DRA-INFO-03", "DRA-INFO-05", "DRA-VER-03",
                "DRA-SEC-01"
            })
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

    static final class WithoutEndpoint extends Registration {
        @Override
        String endpoint() {
            return "";
        }
    }

    @Variant(
            id = "H-6",
            what = "v1 alone",
            with = V1OnlyRegistration.class,
            passes = {
                "DRA-REG-05", "DRA-REG-06",
                "DRA-INFO-05", "DRA-VER-03",
                "DRA-SLICE-19"
            },
            notApplicable = "DRA-VER-02")
    @Violation("DRA-VER-01: and not v1beta1.DRAPlugin")
    static final class V1Only extends BareDriver {
        @Override
        List<BindableService> services() {
            return super.services().stream()
                    .filter(each -> !(each instanceof PluginV1beta1))
                    .toList();
        }
    }

    static final class V1OnlyRegistration extends Registration {
        @Override
        List<String> versions() {
            return super.versions().stream()
                    .filter(each -> !each.equals("v1beta1.DRAPlugin"))
                    .toList();
        }
    }

    @Variant(
            id = "H-6b",
            what = "v1beta1 alone",
            with = V1beta1OnlyRegistration.class,
            passes = {
                "DRA-REG-05", "DRA-REG-06",
                "DRA-INFO-05", "DRA-VER-03",
                "DRA-SLICE-19"
            },
            notApplicable = "DRA-VER-02")
    @Violation("DRA-VER-01: and not v1.DRAPlugin")
    static final class V1beta1Only extends BareDriver {
        @Override
        List<BindableService> services() {
            return super.services().stream()
                    .filter(each -> !(each instanceof PluginV1))
                    .toList();
        }
    }

    static final class V1beta1OnlyRegistration extends Registration {
        @Override
        List<String> versions() {
            return super.versions().stream()
                    .filter(each -> !each.equals("v1.DRAPlugin"))
                    .toList();
        }
    }

    @Variant(
            id = "H-20",
            what = "paths that cannot be set",
            passes = {
                "DRA-REG-02", "DRA-REG-05", "DRA-REG-09", "DRA-INFO-03", "DRA-UNP-12",
                "DRA-CDI-05", "DRA-CDI-10", "DRA-CDI-11", "DRA-RST-01", "DRA-RST-05",
                "DRA-RST-06", "DRA-RST-07", "DRA-SLICE-19", "DRA-META-01", "DRA-META-02",
                "DRA-SEC-01"
            },
            options = "--gpu-device-metadata",
            settings = """
/driver/process/standardPaths: true
/driver/stateFiles: /var/lib/kubelet/plugins/gpu.example.com/state.json
/driver/declares: [adm, meta]
""",
            namespace = true,
            from = Build.FULL)
    static final class StandardPaths extends BareDriver {
        @Override
        Settings settings(Settings given) {
            return given.with("--cdi-root", "/var/run/cdi")
                    .with("--kubelet-plugins-directory-path", "/var/lib/kubelet/plugins")
                    .with("--kubelet-registrar-directory-path", "/var/lib/kubelet/plugins_registry");
        }
    }

    /** {@link StandardPaths} without the setting: the suite finds it there. */
    @Variant(
            id = "H-71",
            what = "paths that cannot be set, as nothing tells",
            passes = {"DRA-REG-01", "DRA-REG-09", "DRA-CDI-10", "DRA-RST-01", "DRA-SLICE-01"},
            settings = "{/driver/stateFiles: /var/lib/kubelet/plugins/gpu.example.com/state.json}",
            namespace = true,
            from = Build.FULL)
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
    @Variant(
            id = "H-72",
            what = "registers with the container runtime by NRI first, and ends without one",
            passes = {"DRA-REG-01", "DRA-REG-09", "DRA-RST-01", "DRA-SLICE-01"},
            settings = "{/driver/nri: true}",
            namespace = true,
            from = Build.FULL)
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
    @Variant(
            id = "H-70",
            what = "one port that cannot be set, and ends if another has it",
            passes = {"DRA-REG-01", "DRA-REG-09", "DRA-PREP-17", "DRA-RST-01", "DRA-SLICE-01"},
            settings = "{/driver/seamlessUpgrade: false}")
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
    @Variant(
            id = "H-21",
            what = "finds the API server as in a cluster alone, by TLS",
            passes = {
                "DRA-REG-09",
                "DRA-PREP-17",
                "DRA-PREP-39",
                "DRA-RST-01",
                "DRA-SLICE-01",
                "DRA-SLICE-08",
                "DRA-SLICE-16",
                "DRA-SLICE-19",
                "DRA-UPG-05",
                "DRA-SEC-04"
            },
            settings = "{/driver/process/inCluster: true, /driver/seamlessUpgrade: true}",
            namespace = true,
            from = Build.FULL)
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
    @Variant(
            id = "H-61",
            what = "comes up slowly, and a SIGTERM before that ends it with 143 and leaves its sockets",
            with = SliceVariants.After4Seconds.class,
            passes = {"DRA-REG-08", "DRA-SLICE-07", "DRA-SLICE-17", "DRA-SLICE-21", "DRA-SHUT-01", "DRA-SHUT-04"})
    static final class Slow extends BareDriver {
        @Override
        void stop() {
            if (!publisher.published) {
                Life.current().end(143);
            }
            super.stop();
        }
    }

    @Variant(
            id = "H-23a",
            what = "does not make the directory of its socket, which is its DaemonSet's to make",
            passes = {"DRA-REG-09", "DRA-RST-01"},
            settings = "{/driver/process/makeDirectories: ['{KUBELET_PLUGINS_DIRECTORY_PATH}/{DRIVER_NAME}']}",
            process = true,
            from = Build.FULL)
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
