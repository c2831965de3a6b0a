// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Drivers that are right on a node, and that cannot be told of a place to be tried at. */
final class OddPlaces {

    private OddPlaces() {}

    /** Whether there is one of this id. */
    static boolean install(String id, Parts parts) {
        switch (id) {
            case "H-20" -> parts.settings = OddPlaces::standard;
            case "H-21" -> parts.api = settings -> inCluster();
            case "H-22" -> parts.cdi = TwoDirectories::new;
            case "H-23a" -> parts.driver = given -> new WithoutFolder(given, parts);
            case "H-23b" -> parts.work = OfThisBoot::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    /** The paths of every node, whatever the driver is told. */
    private static Settings standard(Settings given) {
        return given.with("--cdi-root", "/var/run/cdi")
                .with("--kubelet-plugins-directory-path", "/var/lib/kubelet/plugins")
                .with("--kubelet-registrar-directory-path", "/var/lib/kubelet/plugins_registry");
    }

    /** The API server as client libraries find it in a container of a cluster. */
    private static ApiClient inCluster() {
        Path account = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
        String server =
                "https://%s:%s"
                        .formatted(
                                System.getenv("KUBERNETES_SERVICE_HOST"),
                                System.getenv("KUBERNETES_SERVICE_PORT"));
        try {
            String token = Files.readString(account.resolve("token"));
            return new ApiClient(server, token, trusting(account.resolve("ca.crt")));
        } catch (NoSuchFileException e) {
            return new ApiClient(server, "", HttpClient.newHttpClient());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static HttpClient trusting(Path ca) throws IOException {
        try (InputStream pem = Files.newInputStream(ca)) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            store.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
            TrustManagerFactory trust =
                    TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, trust.getTrustManagers(), null);
            return HttpClient.newBuilder()
                    .sslContext(tls)
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(Duration.ofSeconds(3))
                    .build();
        } catch (GeneralSecurityException e) {
            throw new IOException("The CA can't be used", e);
        }
    }

    /** A second spec for each claim, as the Go helper writes one for metadata files. */
    private static final class TwoDirectories extends CdiSpecs {

        private final CdiSpecs second;

        TwoDirectories(Settings settings) {
            super(settings);
            second =
                    new CdiSpecs(
                            settings.with(
                                    "--cdi-root",
                                    settings.cdi().resolveSibling("cdi-of-helper").toString())) {
                        @Override
                        String kind() {
                            return "metadata." + super.kind();
                        }

                        @Override
                        ObjectNode spec(ObjectNode held) {
                            ObjectNode spec =
                                    Json.object().put("cdiVersion", "0.6.0").put("kind", kind());
                            for (JsonNode device : held.path("devices")) {
                                String id = device.at("/cdi/1").asText();
                                ObjectNode one = spec.withArray("devices").addObject();
                                one.put("name", id.substring(id.indexOf('=') + 1))
                                        .putObject("containerEdits")
                                        .putArray("env")
                                        .add("WITH_METADATA=yes");
                            }
                            return spec;
                        }
                    };
        }

        @Override
        List<String> ids(String uid, String device, String share) {
            List<String> ids = new ArrayList<>(super.ids(uid, device, share));
            ids.addAll(second.ids(uid, device, share));
            return ids;
        }

        @Override
        void write(ObjectNode held) {
            super.write(held);
            second.write(held);
        }

        @Override
        void restore(ObjectNode held) {
            super.restore(held);
            second.restore(held);
        }

        @Override
        void delete(String uid) {
            super.delete(uid);
            second.delete(uid);
        }
    }

    private static final class WithoutFolder extends BareDriver {
        WithoutFolder(Settings settings, Parts parts) {
            super(settings, parts);
        }

        @Override
        void start() throws IOException {
            if (!Files.isDirectory(settings.data())) {
                throw new IOException(
                        "listen unix " + servicePath() + ": bind: no such file or directory");
            }
            super.start();
        }
    }

    /** Claims whose specs vanished while it was down, in the same boot, are not to be trusted. */
    private static final class OfThisBoot extends ClaimWork {

        private final Set<String> doubted = new HashSet<>();

        OfThisBoot(BareDriver driver) {
            super(driver);
        }

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
                throw new Refused("The CDI spec of the claim was removed by somebody");
            }
            return super.establish(id, claim);
        }
    }
}
