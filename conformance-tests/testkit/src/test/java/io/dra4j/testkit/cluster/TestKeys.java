// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import io.dra4j.testkit.driver.Ended;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A key with a certificate that it signed itself, made by the JDK's keytool. */
public record TestKeys(KeyStore store) {

    public static final String PASSWORD = "changeit";
    private static final String ALIAS = "key";

    /**
     * @param names what the certificate is for, as keytool takes it, for example {@code
     *     ip:127.0.0.1}; empty for a client's
     */
    public static TestKeys make(Path folder, String owner, String names) throws Exception {
        // fabric8 takes no other of a client in PKCS#8
        return made(folder, owner, names, "-keyalg", "RSA", "-keysize", "2048");
    }

    /**
     * Makes a key for 127.0.0.1.
     *
     * @param algorithm RSA, EC or Ed25519
     */
    public static TestKeys ofServer(Path folder, String owner, String algorithm) throws Exception {
        return made(folder, owner, "ip:127.0.0.1", "-keyalg", algorithm);
    }

    private static TestKeys made(Path folder, String owner, String names, String... algorithm) throws Exception {
        Path file = folder.resolve(owner + ".p12");
        List<String> command = new ArrayList<>();
        command.add(Ended.jdk("keytool"));
        command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        command.addAll(List.of("-genkeypair", "-alias", ALIAS));
        command.addAll(List.of("-dname", "CN=" + owner, "-validity", "2"));
        command.addAll(List.of("-keystore", file.toString(), "-storetype", "PKCS12"));
        command.addAll(List.of("-storepass", PASSWORD));
        if (!names.isEmpty()) {
            command.addAll(List.of("-ext", "san=" + names));
        }
        Ended.of(Map.of(), command, algorithm).printed();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream bytes = Files.newInputStream(file)) {
            store.load(bytes, PASSWORD.toCharArray());
        }
        return new TestKeys(store);
    }

    /** A store that trusts only these certificates. */
    public static KeyStore trusting(TestKeys... trusted) throws GeneralSecurityException, IOException {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        for (TestKeys keys : trusted) {
            trust.setCertificateEntry("ca-" + trust.size(), keys.certificate());
        }
        return trust;
    }

    /** The TLS of a client that trusts only these certificates. */
    public static SSLContext clientOf(TestKeys... trusted) throws GeneralSecurityException, IOException {
        return client(trusting(trusted));
    }

    /** The TLS of a client that trusts only a CA, in PEM. */
    public static SSLContext clientOf(String authority) throws GeneralSecurityException, IOException {
        KeyStore trust = trusting();
        ByteArrayInputStream pem = new ByteArrayInputStream(authority.getBytes(StandardCharsets.US_ASCII));
        trust.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        return client(trust);
    }

    /** The JDK's client that trusts only a CA, in PEM. */
    public static HttpClient clientOf(String authority, HttpClient.Version version)
            throws GeneralSecurityException, IOException {
        return HttpClient.newBuilder()
                .sslContext(clientOf(authority))
                .version(version)
                .build();
    }

    private static SSLContext client(KeyStore trusted) throws GeneralSecurityException {
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(null, trust.getTrustManagers(), null);
        return tls;
    }

    public X509Certificate certificate() throws GeneralSecurityException {
        return (X509Certificate) store.getCertificate(ALIAS);
    }

    public String certificatePem() throws GeneralSecurityException {
        return pem("CERTIFICATE", certificate().getEncoded());
    }

    /** The key in PKCS#8. */
    public byte[] key() throws GeneralSecurityException {
        return store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded();
    }

    public String keyPem() throws GeneralSecurityException {
        return pem("PRIVATE KEY", key());
    }

    public static String pem(String type, byte[] content) {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(type, lines, type);
    }

    /** The lines of a cluster that trusts this certificate. */
    public String authority() throws GeneralSecurityException {
        return "certificate-authority-data: " + data(certificatePem());
    }

    /** The lines of a user with this key. */
    public String client() throws GeneralSecurityException {
        return "client-certificate-data: %s\n    client-key-data: %s".formatted(data(certificatePem()), data(keyPem()));
    }

    private static String data(String pem) {
        return Base64.getEncoder().encodeToString(pem.getBytes(StandardCharsets.UTF_8));
    }
}
