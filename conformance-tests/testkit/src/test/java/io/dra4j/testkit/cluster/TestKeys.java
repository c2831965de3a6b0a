// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** A key with a certificate that it signed itself, made by the JDK's keytool. */
public record TestKeys(KeyStore store) {

    public static final String PASSWORD = "changeit";
    private static final String ALIAS = "key";

    /**
     * @param names what the certificate is for, as keytool takes it, for example {@code
     *     ip:127.0.0.1}; empty for a client's
     */
    public static TestKeys make(Path folder, String owner, String names) throws Exception {
        Path file = folder.resolve(owner + ".p12");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        command.addAll(List.of("-genkeypair", "-alias", ALIAS));
        command.addAll(List.of("-keyalg", "RSA", "-keysize", "2048")); // fabric8 takes no other of a client in PKCS#8
        command.addAll(List.of("-dname", "CN=" + owner, "-validity", "2"));
        command.addAll(List.of("-keystore", file.toString(), "-storetype", "PKCS12"));
        command.addAll(List.of("-storepass", PASSWORD));
        if (!names.isEmpty()) {
            command.addAll(List.of("-ext", "san=" + names));
        }
        Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(output).isZero();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream bytes = Files.newInputStream(file)) {
            store.load(bytes, PASSWORD.toCharArray());
        }
        return new TestKeys(store);
    }

    /** A store that trusts this certificate alone. */
    public KeyStore trusting() throws GeneralSecurityException, IOException {
        KeyStore trust = KeyStore.getInstance("PKCS12");
        trust.load(null, null);
        trust.setCertificateEntry(ALIAS, store.getCertificate(ALIAS));
        return trust;
    }

    public String certificatePem() throws GeneralSecurityException {
        return pem("CERTIFICATE", store.getCertificate(ALIAS).getEncoded());
    }

    public String keyPem() throws GeneralSecurityException {
        return pem("PRIVATE KEY", store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded());
    }

    private static String pem(String what, byte[] bytes) {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(what, lines, what);
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
