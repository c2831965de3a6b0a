// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.tls;

import io.dra4j.runtime.internal.tls.PemFiles.PemException;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The two sides of a client's TLS, from PEM texts: the authorities it trusts, and its identity.
 *
 * <p>All methods throw {@link IllegalArgumentException} for a text that can't be used; its message
 * names the text's source and the reason.
 */
public final class ClientTls {

    private static final Logger LOG = LoggerFactory.getLogger(ClientTls.class);
    private static final char[] IN_MEMORY = "unused".toCharArray();

    private ClientTls() {}

    /** Returns trust managers that accept only servers of these authorities. */
    public static TrustManager[] trust(String source, String authorities) {
        try {
            KeyStore trusted = empty();
            for (X509Certificate authority : readable(Path.of(source), authorities)) {
                trusted.setCertificateEntry("ca-" + trusted.size(), authority);
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);
            return trust.getTrustManagers();
        } catch (PemException | GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** Trusts the readable ones of several authorities, like Go clients. */
    private static List<X509Certificate> readable(Path source, String authorities) throws PemException {
        try {
            return PemFiles.chain(source, authorities);
        } catch (PemException e) {
            List<X509Certificate> readable = new ArrayList<>();
            for (String one : authorities.split("(?<=-----END CERTIFICATE-----)")) {
                try {
                    readable.addAll(PemFiles.chain(source, one));
                } catch (PemException ofOne) {
                    e.addSuppressed(ofOne);
                }
            }
            if (readable.isEmpty()) {
                throw e;
            }
            LOG.atWarn().setCause(e).log("Some certificate authorities are skipped; {} are used", readable.size());
            return readable;
        }
    }

    /**
     * Returns a client's certificate, followed by its issuers' certificates, and its key.
     *
     * @param key of any form and algorithm that {@link ServerCertificate#read} accepts
     */
    public static KeyManager[] identity(String certificatesSource, String certificates, String keySource, String key) {
        try {
            PemFiles.Identity identity = new PemFiles(Path.of(certificatesSource), Path.of(keySource))
                    .identity(new PemFiles.Content(certificates, key));
            KeyStore own = empty();
            own.setKeyEntry("own", identity.key(), IN_MEMORY, identity.chain().toArray(X509Certificate[]::new));
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(own, IN_MEMORY);
            return keys.getKeyManagers();
        } catch (PemException | GeneralSecurityException | IOException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }
}
