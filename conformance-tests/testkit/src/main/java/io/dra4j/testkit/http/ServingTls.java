// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.jspecify.annotations.Nullable;

/** The TLS of a server whose CA can be replaced. Thread-safe. */
public final class ServingTls {

    private final SslContextFactory.Server settings = new SslContextFactory.Server();
    private @Nullable ServingCertificate current; // guarded by this; made when it is needed

    /**
     * The settings of the server's connectors.
     *
     * @throws IllegalStateException if a certificate cannot be made
     */
    public SslContextFactory.Server settings() {
        certificate();
        return settings;
    }

    /** The CA's certificate in PEM, as in the {@code ca.crt} of a service account. */
    public String authority() {
        return certificate().authority();
    }

    private synchronized ServingCertificate certificate() {
        ServingCertificate made = current;
        if (made == null) {
            made = ServingCertificate.first();
            made.into(settings);
            current = made;
        }
        return made;
    }

    /** Makes another CA and certificate for new connections; open ones continue, and no session is resumed. */
    public synchronized void replaceAuthority() {
        ServingCertificate made = ServingCertificate.make();
        try {
            settings.reload(any -> made.into(settings));
        } catch (Exception e) {
            throw new IllegalStateException("The certificate can't be replaced", e);
        }
        current = made;
    }

    /**
     * A certificate for the names that an API server has in a cluster and for 127.0.0.1, and the CA
     * that signed it: both are made by the JDK's keytool; all CAs have the same name.
     */
    private record ServingCertificate(KeyStore keys, String password) {
        private static final String NAMES = "san=ip:127.0.0.1,dns:localhost,dns:kubernetes,dns:kubernetes.default,"
                + "dns:kubernetes.default.svc,dns:kubernetes.default.svc.cluster.local";
        private static final String PASSWORD = "PASSWORD";
        private static @Nullable ServingCertificate first; // guarded by the class

        /** The one that servers of this JVM begin with. */
        static synchronized ServingCertificate first() {
            ServingCertificate made = first;
            if (made == null) {
                made = make();
                first = made;
            }
            return made;
        }

        /** Another certificate, from another CA. */
        static ServingCertificate make() {
            String password = UUID.randomUUID().toString();
            try {
                Path folder = Files.createTempDirectory("dc-keys-");
                Path file = folder.resolve("keys.p12");
                try {
                    generate(file, password, "ca", List.of("-ext", "bc:critical=ca:true"));
                    generate(
                            file,
                            password,
                            "server",
                            List.of("-signer", "ca", "-ext", NAMES, "-ext", "eku=serverAuth"));
                    return new ServingCertificate(loaded(file, password), password);
                } finally {
                    Files.deleteIfExists(file);
                    Files.delete(folder);
                }
            } catch (IOException e) {
                throw new UncheckedIOException("Can't make a certificate with keytool", e);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("keytool made keys that can't be read", e);
            }
        }

        private static void generate(Path file, String password, String alias, List<String> more) throws IOException {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.add("-XX:TieredStopAtLevel=1"); // it ends before the second compiler would pay off
            command.addAll(List.of("-m", "java.base/sun.security.tools.keytool.Main")); // images lack bin/keytool
            command.addAll(List.of("-genkeypair", "-alias", alias, "-dname", "CN=dra-conformance"));
            command.addAll(List.of("-keyalg", "EC", "-groupname", "secp256r1", "-validity", "30"));
            command.addAll(List.of("-keystore", file.toString(), "-storetype", "PKCS12"));
            command.addAll(List.of("-storepass:env", PASSWORD));
            command.addAll(more);
            ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
            builder.environment().put(PASSWORD, password);
            Process keytool = builder.start();
            String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            try {
                if (keytool.waitFor() != 0) {
                    throw new IllegalStateException("keytool can't make a certificate: " + output);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted while keytool made a certificate", e);
            }
        }

        private static KeyStore loaded(Path file, String password) throws IOException, GeneralSecurityException {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream bytes = Files.newInputStream(file)) {
                keys.load(bytes, password.toCharArray());
            }
            return keys;
        }

        /** Makes it the certificate of a server. */
        void into(SslContextFactory.Server tls) {
            tls.setKeyStore(keys);
            tls.setKeyStorePassword(password);
            tls.setCertAlias("server");
            tls.setSniRequired(false);
        }

        /** The CA's certificate as in the {@code ca.crt} of a service account. */
        String authority() {
            try {
                byte[] bytes = keys.getCertificate("ca").getEncoded();
                String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
                return "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n".formatted(lines);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("The certificate of the CA can't be encoded", e);
            }
        }
    }
}
