// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.tls;

import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.tls.PemFiles.PemException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's certificate and key, reloaded whenever their files change.
 *
 * <p>Each handshake compares the files with what it last read, so a renewed certificate is used immediately, and open
 * connections continue. Files that can't be used are logged, once for each content, and the previous ones stay in use.
 * This also happens while only the first of the two files has been replaced.
 */
public final class ServerCertificate {

    private static final Logger LOG = LoggerFactory.getLogger(ServerCertificate.class);

    private final PemFiles files;
    private final Map<String, PemFiles.Identity> inUse = new ConcurrentHashMap<>(); // by alias
    private PemFiles.Content lastRead; // guarded by this
    private int count; // guarded by this
    private volatile String alias = "";
    private volatile @Nullable String lastFailure;

    private ServerCertificate(PemFiles files, PemFiles.Content content, PemFiles.Identity first) {
        this.files = files;
        this.lastRead = content;
        use(first);
    }

    /**
     * Reads a certificate, followed by its issuers' certificates, and its key.
     *
     * @param certificates a file of PEM certificates, the server's own first
     * @param key a file with its PEM key: PKCS#8, PKCS#1 or SEC 1, not encrypted
     * @throws IllegalArgumentException if they can't be used; the message has the file and reason
     */
    public static ServerCertificate read(Path certificates, Path key) {
        PemFiles files = new PemFiles(certificates, key);
        try {
            PemFiles.Content content = files.read();
            return new ServerCertificate(files, content, files.identity(content));
        } catch (PemException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    public SSLContext context() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new Keys()}, null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Every JVM has TLS", e);
        }
    }

    private void use(PemFiles.Identity identity) {
        String before = alias;
        alias = "read-" + ++count;
        inUse.put(alias, identity);
        // Handshakes that began with the previous one still ask for it.
        inUse.keySet().retainAll(Arrays.asList(before, alias));
    }

    private synchronized void readAgain() {
        try {
            PemFiles.Content now = files.read();
            if (!now.equals(lastRead)) {
                lastRead = now;
                use(files.identity(now));
                lastFailure = null;
                LOG.atInfo().addKeyValue(LogField.PATH, files.certificates()).log("The certificate was reloaded");
            }
        } catch (PemException e) {
            if (!String.valueOf(e.getMessage()).equals(lastFailure)) {
                lastFailure = e.getMessage();
                LOG.atError()
                        .addKeyValue(LogField.REASON, lastFailure)
                        .log("The new certificate can't be used; the last one stays");
            }
        }
    }

    /** The certificate as TLS asks for it: an alias first, then what is under the alias. */
    private final class Keys extends X509ExtendedKeyManager {

        @Override
        public @Nullable String chooseEngineServerAlias(
                String keyType, Principal @Nullable [] issuers, SSLEngine engine) {
            readAgain();
            String newest = alias;
            PemFiles.Identity identity = inUse.get(newest);
            return identity != null && identity.key().getAlgorithm().equals(keyType) ? newest : null;
        }

        @Override
        public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
            return null;
        }

        @Override
        public X509Certificate @Nullable [] getCertificateChain(String alias) {
            PemFiles.Identity identity = inUse.get(alias);
            return identity == null ? null : identity.chain().toArray(X509Certificate[]::new);
        }

        @Override
        public @Nullable PrivateKey getPrivateKey(String alias) {
            PemFiles.Identity identity = inUse.get(alias);
            return identity == null ? null : identity.key();
        }

        @Override
        public @Nullable String chooseServerAlias(
                String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return null; // the server uses engines
        }

        @Override
        public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
            return null;
        }

        @Override
        public @Nullable String chooseClientAlias(
                String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
            return null;
        }
    }
}
