// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The JDK's client for a server of a CA. */
public final class TrustingClient {
    private TrustingClient() {}

    /** A client that trusts only a CA, in PEM. */
    public static HttpClient of(String authority, Version version) throws IOException, GeneralSecurityException {
        return HttpClient.newBuilder()
                .sslContext(tls(authority))
                .version(version)
                .build();
    }

    /** The TLS of such a client. */
    public static SSLContext tls(String authority) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        ByteArrayInputStream pem = new ByteArrayInputStream(authority.getBytes(US_ASCII));
        trusted.setCertificateEntry(
                "ca", CertificateFactory.getInstance("X.509").generateCertificate(pem));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
