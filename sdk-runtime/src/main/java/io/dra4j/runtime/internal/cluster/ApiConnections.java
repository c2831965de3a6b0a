// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.FileStamp;
import io.dra4j.runtime.internal.thread.ShortLivedThreads;
import io.dra4j.runtime.internal.tls.ClientTls;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.internal.SSLUtils;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections to the API server that are opened with the same files: certificates, keys and
 * kubeconfig at the time of creation.
 *
 * <p>They speak HTTP/1.1, so that each request or watch has its own connection, which is closed when the request is
 * cancelled. With HTTP/2, the JDK's client has one connection for all, and keeps using it when the server no longer
 * answers on it.
 */
final class ApiConnections {

    /** Named in messages where a kubeconfig has the text itself. */
    private static final String IN_KUBECONFIG = "the kubeconfig";

    private static final int CURVE_BITS = 256;
    private static final Logger LOG = LoggerFactory.getLogger(ApiConnections.class);
    private static final Executor THREADS = ShortLivedThreads.waiting("dra4j-api");

    private final Config config;
    private final Map<Path, FileStamp> files;
    private final String server;
    private final SSLContext tls;
    private final HttpClient http;
    private final Set<ApiWatch<?>> watches = ConcurrentHashMap.newKeySet();
    private volatile long silentSince;

    private ApiConnections(Config config, Map<Path, FileStamp> files, SSLContext tls) {
        this.config = config;
        this.files = files;
        this.tls = tls;
        String url = config.getMasterUrl();
        this.server = url.endsWith("/") ? url : url + "/";
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofMillis(config.getConnectionTimeout()))
                .followRedirects(HttpClient.Redirect.NEVER)
                .proxy(proxy(config))
                .sslContext(tls)
                .executor(THREADS)
                .build();
    }

    /**
     * Reads the files that a configuration names; connects when there is something to send.
     *
     * @param kubeconfig the source of the configuration, as the file was before it was read
     * @throws DraException if they can't be read or used
     */
    static ApiConnections of(Config config, Map<Path, FileStamp> kubeconfig) {
        Map<Path, FileStamp> files = new TreeMap<>(kubeconfig);
        Stream.of(config.getCaCertFile(), config.getClientCertFile(), config.getClientKeyFile())
                .filter(file -> file != null && !file.isEmpty())
                .map(Path::of)
                .forEach(file -> files.put(file, FileStamp.of(file)));
        try {
            return new ApiConnections(config, files, tls(config));
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw new DraException("Cannot connect to the API server " + config.getMasterUrl() + ": " + e, e);
        }
    }

    private static SSLContext tls(Config config) throws IOException, GeneralSecurityException {
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keys(config), trust(config), null);
        return tls;
    }

    private static TrustManager @Nullable [] trust(Config config) throws IOException, GeneralSecurityException {
        if (config.isTrustCerts()) {
            return SSLUtils.trustManagers(config);
        }
        if (!config.getMasterUrl().startsWith("https:")) {
            return new TrustManager[0]; // the JDK would read all its own authorities
        }
        String authorities = text(config.getCaCertData(), config.getCaCertFile());
        return authorities == null ? null : ClientTls.trust(source(config.getCaCertFile()), authorities);
    }

    private static KeyManager @Nullable [] keys(Config config) throws IOException {
        String certificates = text(config.getClientCertData(), config.getClientCertFile());
        String key = text(config.getClientKeyData(), config.getClientKeyFile());
        return certificates == null || key == null
                ? null
                : ClientTls.identity(
                        source(config.getClientCertFile()), certificates, source(config.getClientKeyFile()), key);
    }

    private static String source(@Nullable String file) {
        return file == null || file.isEmpty() ? IN_KUBECONFIG : file;
    }

    private static @Nullable String text(@Nullable String data, @Nullable String file) throws IOException {
        if (data != null && !data.isEmpty()) {
            // A kubeconfig's plugin prints PEM, which is in Base64 in the kubeconfig itself.
            return data.contains("-----BEGIN ")
                    ? data
                    : new String(Base64.getMimeDecoder().decode(data), StandardCharsets.ISO_8859_1);
        }
        return file == null || file.isEmpty() ? null : Files.readString(Path.of(file), StandardCharsets.ISO_8859_1);
    }

    private static ProxySelector proxy(Config config) {
        String url = config.getHttpsProxy() == null ? config.getHttpProxy() : config.getHttpsProxy();
        if (url == null || url.isEmpty()) {
            return HttpClient.Builder.NO_PROXY;
        }
        URI proxy = URI.create(url);
        if (proxy.getHost() == null || proxy.getPort() < 0 || proxy.getScheme().startsWith("socks")) {
            throw new IllegalArgumentException("the proxy " + url + " is not of the form http://HOST:PORT");
        }
        return ProxySelector.of(new InetSocketAddress(proxy.getHost(), proxy.getPort()));
    }

    /**
     * Starts loading what takes most of a first handshake's time, without sending anything: classes, and the tables of
     * the curve P-256, which the JDK computes once.
     */
    static void load(Executor beside) {
        beside.execute(() -> loaded(() -> {
            KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
            keys.initialize(CURVE_BITS);
            keys.generateKeyPair();
        }));
        beside.execute(() -> loaded(() -> {
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, new TrustManager[0], null);
            tls.createSSLEngine();
        }));
    }

    private interface Loading {
        void run() throws GeneralSecurityException;
    }

    private static void loaded(Loading part) {
        try {
            part.run();
        } catch (GeneralSecurityException e) { // reported when it is needed
            LOG.atDebug().setCause(e).log("A part of TLS can't be loaded in advance");
        }
    }

    /** Returns connections with the data read for these, none open. */
    ApiConnections again() {
        return new ApiConnections(config, files, tls);
    }

    String namespace() {
        String namespace = config.getNamespace();
        return namespace == null ? "default" : namespace;
    }

    String server() {
        return server;
    }

    /** Returns the stamps of the files before they were read. */
    Map<Path, FileStamp> files() {
        return files;
    }

    /** Returns the current stamps of the same files. */
    Map<Path, FileStamp> filesNow() {
        Map<Path, FileStamp> now = new TreeMap<>(files);
        now.replaceAll((file, read) -> FileStamp.of(file));
        return now;
    }

    /** Returns whether a file has changed since it was read. */
    boolean isOutdated() {
        return !filesNow().equals(files);
    }

    /**
     * Begins a request; cancelling the result closes the connection.
     *
     * @throws java.io.UncheckedIOException if the token can't be read
     */
    <T> CompletableFuture<Response<T>> send(
            String path, UnaryOperator<HttpRequest.Builder> request, BodyHandler<T> body) {
        HttpRequest.Builder builder = HttpRequest.newBuilder(URI.create(server + path))
                .header("Accept", "application/json")
                .header("User-Agent", config.getUserAgent());
        String authorization = authorization();
        if (authorization != null) {
            builder.header("Authorization", authorization);
        }
        return send(request.apply(builder).build(), body);
    }

    /**
     * Answers from the client's own threads: the JDK's result is completed by the common pool, whose only thread on a
     * node with two processors may be blocked by any library.
     */
    private <T> CompletableFuture<Response<T>> send(HttpRequest request, BodyHandler<T> body) {
        CompletableFuture<Response<T>> response = new CompletableFuture<>();
        CompletableFuture<?> exchange = http.sendAsync(request, head -> {
            BodySubscriber<T> content = body.apply(head);
            content.getBody()
                    .thenAccept(all -> response.complete(new Response<>(head.statusCode(), head.headers(), all)));
            return content;
        });
        exchange.whenComplete((done, failure) -> {
            if (failure != null) {
                response.completeExceptionally(failure);
            }
        });
        response.whenComplete((done, failure) -> {
            if (response.isCancelled()) {
                exchange.cancel(true);
            }
        });
        return response;
    }

    /** The status and the headers of an answer, with its content or the reader of the content. */
    record Response<T>(int statusCode, HttpHeaders headers, T body) {}

    private @Nullable String authorization() {
        if (config.getUsername() != null && config.getPassword() != null) {
            return HttpClientUtils.basicCredentials(config.getUsername(), config.getPassword());
        }
        String token = config.getOauthTokenProvider() == null
                ? config.getAutoOAuthToken()
                : config.getOauthTokenProvider().getToken();
        return token == null || token.isEmpty() ? null : "Bearer " + token;
    }

    void add(ApiWatch<?> watch) {
        watches.add(watch);
        watch.whenOver(() -> watches.remove(watch));
    }

    boolean hasWatches() {
        return !watches.isEmpty();
    }

    /** Notes that a request got no answer, and when it was sent. */
    void silentSince(long nanoTime) {
        silentSince = nanoTime;
    }

    /** Ends the watches that received nothing since a request that got no answer. */
    void endSilentWatches() {
        watches.forEach(watch -> watch.endIfSilentSince(silentSince));
    }

    /** Ends once the open requests and watches have ended; idle connections are closed. */
    void retire() {
        end("shutdown");
    }

    void close() {
        watches.forEach(Watch::close);
        end("shutdownNow");
    }

    /** The JDK's client has had both methods since 21; before that, it ends when it is garbage-collected. */
    private void end(String method) {
        try {
            HttpClient.class.getMethod(method).invoke(http);
        } catch (NoSuchMethodException e) {
            return;
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("HttpClient." + method, e);
        }
    }
}
