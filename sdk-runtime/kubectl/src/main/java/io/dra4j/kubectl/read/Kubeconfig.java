// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads kubeconfigs as kubectl does.
 *
 * <p>The client alone takes the current context if the named one does not exist, mixes what a credential plugin writes to
 * standard error into its answer, ignores files of tokens, impersonation and most proxies, and takes 0.1 s.
 */
final class Kubeconfig {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String IN_CLUSTER = "KUBERNETES_SERVICE_HOST";
    private static final String USER = "user";

    private final Map<File, JsonNode> files = new LinkedHashMap<>();

    private Kubeconfig(Collection<String> names) {
        names.stream()
                .map(name -> new File(name).getAbsoluteFile())
                .filter(one -> one.isFile() && one.length() > 0)
                .forEach(one -> files.put(one, parsed(one)));
    }

    private static JsonNode parsed(File file) {
        try {
            return JSON.valueToTree(
                    new Load(LoadSettings.builder().build()).loadFromString(Files.readString(file.toPath())));
        } catch (YamlEngineException | IllegalArgumentException | IOException e) {
            throw new ReadException("The kubeconfig %s can't be read: %s".formatted(file, e.getMessage()), e);
        }
    }

    /**
     * Reads the named file and context, or else those that kubectl would take.
     *
     * @throws ReadException if they do not exist, or can't be used
     */
    static Config read(@Nullable Path file, @Nullable String context) {
        if (file != null && !Files.isRegularFile(file)) {
            throw new ReadException("There is no kubeconfig file " + file);
        }
        try {
            Kubeconfig found =
                    new Kubeconfig(file == null ? Config.getKubeconfigFilenames() : List.of(file.toString()));
            return file == null && context == null && found.files.isEmpty() && System.getenv(IN_CLUSTER) != null
                    ? Config.autoConfigure(null)
                    : found.config(context == null ? found.current() : context);
        } catch (KubernetesClientException | IllegalArgumentException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new ReadException("The kubeconfig can't be used: " + cause.getMessage(), e);
        }
    }

    private String current() {
        return files.values().stream()
                .map(one -> one.path("current-context").asText(""))
                .filter(one -> !one.isEmpty())
                .findFirst()
                .orElseThrow(() -> new ReadException("There is no kubeconfig: set KUBECONFIG or --kubeconfig, or have a"
                        + " ~/.kube/config with a current context"));
    }

    private Config config(String name) {
        Entry context = find("context", name);
        Entry cluster = find("cluster", context.text("cluster"));
        Entry user = context.text(USER) == null ? Entry.NONE : find(USER, context.text(USER));
        Config config = Config.empty();
        if (user.content.has("auth-provider")) { // the client gets a new token, and writes it to the file
            KubeConfigUtils.merge(
                    config,
                    name,
                    files.keySet().stream()
                            .map(KubeConfigUtils::parseConfig)
                            .toArray(io.fabric8.kubernetes.api.model.Config[]::new));
        }
        config.setNamespace(context.text("namespace"));
        setServer(config, cluster);
        setUser(config, user);
        if (user.content.has("exec")) {
            authenticate(config, cluster, new Entry(user.content.path("exec"), user.folder));
        }
        return config;
    }

    private static void setServer(Config config, Entry cluster) {
        if (cluster.text("server") == null) {
            throw new ReadException("The kubeconfig has a cluster without a server");
        }
        config.setMasterUrl(cluster.text("server"));
        boolean isInsecure = cluster.content.path("insecure-skip-tls-verify").asBoolean();
        config.setTrustCerts(isInsecure);
        config.setDisableHostnameVerification(isInsecure);
        config.setCaCertFile(cluster.file("certificate-authority"));
        config.setCaCertData(cluster.text("certificate-authority-data"));
        config.setTlsServerName(cluster.text("tls-server-name"));
        setProxy(config, Objects.requireNonNullElse(cluster.text("proxy-url"), ""));
    }

    private static void setUser(Config config, Entry user) {
        config.setClientCertFile(user.file("client-certificate"));
        config.setClientCertData(user.text("client-certificate-data"));
        config.setClientKeyFile(user.file("client-key"));
        config.setClientKeyData(user.text("client-key-data"));
        config.setClientKeyAlgo(Config.getKeyAlgorithm(config.getClientKeyFile(), config.getClientKeyData()));
        config.setUsername(user.text("username"));
        config.setPassword(user.text("password"));
        config.setOauthToken(
                user.text("tokenFile") == null ? user.text("token") : token(Path.of(user.file("tokenFile"))));
        if (user.text("as") != null) {
            config.setImpersonateUsername(user.text("as"));
            config.setImpersonateGroups(texts(user.content.path("as-groups")).toArray(String[]::new));
            Map<String, List<String>> extra = new LinkedHashMap<>();
            user.content
                    .path("as-user-extra")
                    .properties()
                    .forEach(one -> extra.put(one.getKey(), texts(one.getValue())));
            config.setImpersonateExtras(extra);
        }
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(JsonNode::asText).toList();
    }

    /** Sets the proxy of the cluster, or else that of the environment. */
    private static void setProxy(Config config, String ofCluster) {
        Config environment = Config.empty();
        Config.configFromSysPropsOrEnvVars(environment); // with a token, say, which is for no kubeconfig
        config.setNoProxy(environment.getNoProxy());
        config.setHttpProxy(withPort(ofCluster.isEmpty() ? environment.getHttpProxy() : ofCluster));
        config.setHttpsProxy(withPort(ofCluster.isEmpty() ? environment.getHttpsProxy() : ofCluster));
    }

    /** The client requires a port. */
    private static @Nullable String withPort(@Nullable String proxy) {
        URI uri = URI.create(proxy == null ? "" : proxy);
        if (uri.getHost() == null || uri.getPort() >= 0) {
            return proxy;
        }
        int usual = Map.of("https", 443, "socks5", 1080).getOrDefault(uri.getScheme(), 80);
        return proxy.replaceFirst("/*$", ":" + usual);
    }

    private Entry find(String kind, @Nullable String name) {
        List<@Nullable String> names = new ArrayList<>();
        for (Map.Entry<File, JsonNode> file : files.entrySet()) {
            for (JsonNode one : file.getValue().path(kind + "s")) {
                names.add(one.path("name").asText(null));
                if (Objects.equals(names.get(names.size() - 1), name)
                        && one.path(kind).isObject()) {
                    return new Entry(
                            one.path(kind), file.getKey().getParentFile().toPath());
                }
            }
        }
        throw new ReadException("The kubeconfig has no %s \"%s\"; it has %s".formatted(kind, name, names));
    }

    /** A cluster, context or user, or a part of one, and the folder of its file, which its paths may be relative to. */
    private record Entry(JsonNode content, Path folder) {

        private static final Entry NONE = new Entry(MissingNode.getInstance(), Path.of(""));

        /** {@code null} if it is empty or missing. */
        private @Nullable String text(String name) {
            String text = content.path(name).asText("");
            return text.isEmpty() ? null : text;
        }

        private @Nullable String file(String name) {
            String path = text(name);
            return path == null ? null : folder.resolve(path).toString();
        }
    }

    private static String token(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new ReadException("The token of the kubeconfig can't be read: " + e, e);
        }
    }

    /** Runs a credential plugin, which may ask the user and write messages to standard error. */
    private static void authenticate(Config config, Entry cluster, Entry plugin) {
        String name = "The credential plugin %s of the kubeconfig".formatted(plugin.text("command"));
        try {
            Process process = started(config, cluster, plugin);
            process.getOutputStream().close();
            byte[] answer = process.getInputStream().readAllBytes();
            if (process.waitFor() != 0) {
                throw new ReadException("%s has failed, with exit status %d".formatted(name, process.exitValue()));
            }
            JsonNode status = JSON.readTree(answer).path("status");
            if (status.has("clientCertificateData")) {
                config.setClientCertData(status.path("clientCertificateData").asText());
                config.setClientKeyData(status.path("clientKeyData").asText());
            } else if (!status.has("token")) {
                throw new ReadException(name + " has returned neither a token nor a certificate");
            }
            config.setOauthToken(status.path("token").asText(null));
        } catch (JsonProcessingException e) { // whose message quotes a part of what may be a secret
            throw new ReadException(name + " has not returned JSON");
        } catch (IOException e) {
            String hint = plugin.text("installHint") == null ? "" : ". " + plugin.text("installHint");
            throw new ReadException("%s can't be run: %s%s".formatted(name, e.getMessage(), hint), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ReadException("Interrupted", e);
        }
    }

    private static Process started(Config config, Entry cluster, Entry plugin) throws IOException {
        String authority = config.getCaCertFile() == null
                ? config.getCaCertData()
                : Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(config.getCaCertFile())));
        boolean isInteractive = !"Never".equals(plugin.text("interactiveMode")) && System.console() != null;
        ObjectNode info =
                JSON.createObjectNode().put("kind", "ExecCredential").put("apiVersion", plugin.text("apiVersion"));
        ObjectNode spec = info.putObject("spec").put("interactive", isInteractive);
        if (plugin.content.path("provideClusterInfo").asBoolean()) {
            spec.putObject("cluster")
                    .put("server", cluster.text("server"))
                    .put("certificate-authority-data", authority);
        }
        String command = Objects.requireNonNullElse(plugin.text("command"), "");
        List<String> words = new ArrayList<>(texts(plugin.content.path("args")));
        words.add(0, command.contains("/") ? plugin.file("command") : command);
        ProcessBuilder builder = new ProcessBuilder(words)
                .redirectInput(isInteractive ? Redirect.INHERIT : Redirect.PIPE)
                .redirectError(Redirect.INHERIT);
        builder.environment().put("KUBERNETES_EXEC_INFO", info.toString());
        plugin.content
                .path("env")
                .forEach(one -> builder.environment()
                        .put(one.path("name").asText(), one.path("value").asText()));
        return builder.start();
    }
}
