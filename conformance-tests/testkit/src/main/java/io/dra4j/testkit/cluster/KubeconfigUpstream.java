// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import io.dra4j.testkit.proxy.Upstream;
import io.dra4j.testkit.proxy.UpstreamException;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * A kubeconfig as the proxy needs it: the server, the trusted CAs and the credentials.
 *
 * <p>Client certificates, tokens (also from a file or an exec plugin) and passwords are taken; what the suite does
 * not support, unlike kubectl (impersonation, an HTTP proxy in front of the server), is refused rather than ignored.
 * A token that a file or a plugin gives may last 15 minutes, less than a run, so it is read again every five. Neither the
 * environment nor this program's own service account is used.
 */
public final class KubeconfigUpstream {

    private static final Duration LONGEST_USE = Duration.ofMinutes(5);

    private KubeconfigUpstream() {}

    /**
     * Reads a kubeconfig; an exec plugin that it names is run.
     *
     * @param context the context to use; empty for the file's current one
     * @throws UpstreamException if it cannot be used, in one line
     */
    public static Upstream read(Path file, String context) {
        return read(file, context, LONGEST_USE);
    }

    /** The same with another time after which a token is read again. */
    static Upstream read(Path file, String context, Duration longestUse) {
        KubeconfigFile found = KubeconfigFile.read(file, context);
        requireSupported(found);
        try {
            Config config = Config.fromKubeconfig(found.context(), file.toFile());
            if (config.getHttpProxy() != null || config.getHttpsProxy() != null) {
                throw unsupported(found, "proxy-url");
            }
            URI server = URI.create(config.getMasterUrl());
            return new Upstream(
                    server,
                    tls(server, config),
                    config.getTlsServerName() == null ? "" : config.getTlsServerName(),
                    new Credentials(found, longestUse, credentials(found, config)),
                    found.described());
        } catch (KubernetesClientException | IllegalArgumentException | GeneralSecurityException | IOException e) {
            throw new UpstreamException(
                    "The kubeconfig %s cannot be used with its context \"%s\": %s"
                            .formatted(file, found.context(), KubeconfigFile.firstLine(e)),
                    e);
        }
    }

    private static void requireSupported(KubeconfigFile found) {
        if (found.user().getAs() != null && !found.user().getAs().isEmpty()) {
            throw unsupported(found, "impersonation (as)");
        }
    }

    private static UpstreamException unsupported(KubeconfigFile found, String what) {
        return new UpstreamException(
                "The kubeconfig %s asks for %s in its context \"%s\", which the suite does not support"
                        .formatted(found.file(), what, found.context()));
    }

    private static @Nullable SSLContext tls(URI server, Config config) throws GeneralSecurityException, IOException {
        return "https".equals(server.getScheme()) ? SSLUtils.sslContext(config) : null;
    }

    private static Map<String, String> credentials(KubeconfigFile found, Config config) throws IOException {
        String token = token(found, config);
        if (!token.isEmpty()) {
            return Map.of("Authorization", "Bearer " + token);
        }
        if (config.getUsername() == null) {
            return Map.of(); // A client certificate, or anonymous.
        }
        String pair = config.getUsername() + ":" + config.getPassword();
        byte[] bytes = pair.getBytes(StandardCharsets.UTF_8);
        return Map.of("Authorization", "Basic " + Base64.getEncoder().encodeToString(bytes));
    }

    /** A token file takes precedence over a token, as in client-go; fabric8 does not know token files. */
    private static String token(KubeconfigFile found, Config config) throws IOException {
        String tokenFile = found.user().getTokenFile();
        if (tokenFile != null && !tokenFile.isEmpty()) {
            return Files.readString(found.beside(tokenFile)).strip();
        }
        return config.getAutoOAuthToken() == null
                ? ""
                : config.getAutoOAuthToken().strip();
    }

    /** The headers with the credentials of a kubeconfig; thread-safe. */
    private static final class Credentials implements Supplier<Map<String, String>> {
        private final KubeconfigFile found;
        private final Duration longestUse;
        private final AtomicLong read = new AtomicLong(System.nanoTime());
        private volatile Map<String, String> headers;

        Credentials(KubeconfigFile found, Duration longestUse, Map<String, String> headers) {
            this.found = found;
            this.longestUse = longestUse;
            this.headers = headers;
        }

        @Override
        public Map<String, String> get() {
            boolean isRenewed = found.user().getExec() != null || found.user().getTokenFile() != null;
            long last = read.get();
            long now = System.nanoTime();
            // Only one request waits for a plugin.
            if (isRenewed && now - last >= longestUse.toNanos() && read.compareAndSet(last, now)) {
                try {
                    Map<String, String> renewed = credentials(
                            found,
                            Config.fromKubeconfig(found.context(), found.file().toFile()));
                    headers = renewed.isEmpty() ? headers : renewed; // fabric8 only warns if a plugin prints no token
                } catch (KubernetesClientException | IllegalArgumentException | IOException e) {
                    return headers; // the server decides whether they still count
                }
            }
            return headers;
        }
    }
}
