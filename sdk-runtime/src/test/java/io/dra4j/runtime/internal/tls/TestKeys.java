// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A key with a certificate for 127.0.0.1 that it signed itself, made by the JDK's keytool. */
public record TestKeys(KeyStore store) {

    public static final char[] PASSWORD = "password".toCharArray();
    private static final String ALIAS = "one";

    /**
     * Makes a key.
     *
     * @param owner the certificate's common name
     * @param algorithm RSA, EC or Ed25519
     */
    public static TestKeys make(Path folder, String owner, String algorithm) throws Exception {
        Path file = folder.resolve(owner + ".p12");
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        List<String> command = List.of((keytool
                        + " -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -genkeypair -alias %s -keyalg %s -dname CN=%s -ext san=ip:127.0.0.1"
                        + " -storetype PKCS12 -storepass %s -keystore %s")
                .formatted(ALIAS, algorithm, owner, new String(PASSWORD), file)
                .split(" "));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        KeyStore read = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            read.load(in, PASSWORD);
        }
        return new TestKeys(read);
    }

    public X509Certificate certificate() throws GeneralSecurityException {
        return (X509Certificate) store.getCertificate(ALIAS);
    }

    public String certificatePem() throws GeneralSecurityException {
        return pem("CERTIFICATE", certificate().getEncoded());
    }

    /** The key in PKCS#8. */
    byte[] key() throws GeneralSecurityException {
        return store.getKey(ALIAS, PASSWORD).getEncoded();
    }

    public String keyPem() throws GeneralSecurityException {
        return pem("PRIVATE KEY", key());
    }

    static String pem(String type, byte[] content) {
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
                .formatted(type, Base64.getMimeEncoder().encodeToString(content), type);
    }

    /** A store that trusts these certificates alone. */
    public static KeyStore trusting(TestKeys... trusted) throws GeneralSecurityException, IOException {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        for (TestKeys keys : trusted) {
            trust.setCertificateEntry("ca-" + trust.size(), keys.certificate());
        }
        return trust;
    }

    /** The TLS of a client that trusts these certificates alone. */
    public static SSLContext client(TestKeys... trusted) throws GeneralSecurityException, IOException {
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusting(trusted));
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return tls;
    }
}
