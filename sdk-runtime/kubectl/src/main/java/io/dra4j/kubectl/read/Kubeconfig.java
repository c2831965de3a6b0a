// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.AuthInfo;
import io.fabric8.kubernetes.api.model.Cluster;
import io.fabric8.kubernetes.api.model.Context;
import io.fabric8.kubernetes.api.model.ExecConfig;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.api.model.NamedContext;
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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads kubeconfigs as kubectl does.
 *
 * <p>The client alone takes the current context if the named one does not exist, mixes what a credential plugin writes to
 * standard error into its answer, and ignores files of tokens, impersonation and most proxies.
 */
final class Kubeconfig {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String IN_CLUSTER = "KUBERNETES_SERVICE_HOST";

    private final List<io.fabric8.kubernetes.api.model.Config> files;

    private Kubeconfig(Collection<String> names) {
        files = names.stream()
                .map(File::new)
                .filter(one -> one.isFile() && one.length() > 0)
                .map(Kubeconfig::parsed)
                .toList();
    }

    private static io.fabric8.kubernetes.api.model.Config parsed(File file) {
        try {
            return KubeConfigUtils.parseConfig(file);
        } catch (YamlEngineException | KubernetesClientException | IllegalArgumentException e) {
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
        return files.stream()
                .map(one -> Objects.requireNonNullElse(one.getCurrentContext(), ""))
                .filter(one -> !one.isEmpty())
                .findFirst()
                .orElseThrow(() -> new ReadException("There is no kubeconfig: set KUBECONFIG or --kubeconfig, or have a"
                        + " ~/.kube/config with a current context"));
    }

    private Config config(String name) {
        Context context =
                find("context", name, one -> one.getContexts(), NamedContext::getName, NamedContext::getContext);
        Cluster cluster = find(
                "cluster",
                context.getCluster(),
                one -> one.getClusters(),
                NamedCluster::getName,
                NamedCluster::getCluster);
        AuthInfo user = context.getUser() == null || context.getUser().isEmpty()
                ? new AuthInfo()
                : find(
                        "user",
                        context.getUser(),
                        one -> one.getUsers(),
                        NamedAuthInfo::getName,
                        NamedAuthInfo::getUser);
        ExecConfig plugin = user.getExec();
        user.setExec(null); // it is run here
        Config config = Config.empty();
        KubeConfigUtils.merge(config, name, files.toArray(io.fabric8.kubernetes.api.model.Config[]::new));
        setProxy(config, Objects.requireNonNullElse(cluster.getProxyUrl(), ""));
        if (user.getAs() != null) {
            config.setImpersonateUsername(user.getAs());
            config.setImpersonateGroups(
                    Objects.requireNonNullElse(user.getAsGroups(), List.of()).toArray(String[]::new));
            config.setImpersonateExtras(user.getAsUserExtra());
        }
        File folder = Objects.requireNonNullElse(config.getFileWithAuthInfo(), new File("."))
                .getAbsoluteFile()
                .getParentFile();
        if (user.getTokenFile() != null) {
            config.setOauthToken(token(folder.toPath().resolve(user.getTokenFile())));
        }
        if (plugin != null) {
            authenticate(config, cluster, plugin, folder);
        }
        return config;
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

    private <T, U> U find(
            String kind,
            @Nullable String name,
            Function<io.fabric8.kubernetes.api.model.Config, List<T>> list,
            Function<T, @Nullable String> nameOf,
            Function<T, @Nullable U> content) {
        List<T> all = files.stream()
                .flatMap(one -> Stream.ofNullable(list.apply(one)))
                .flatMap(List::stream)
                .toList();
        return all.stream()
                .filter(one -> Objects.equals(nameOf.apply(one), name))
                .flatMap(one -> Stream.ofNullable(content.apply(one)))
                .findFirst()
                .orElseThrow(() -> new ReadException("The kubeconfig has no %s \"%s\"; it has %s"
                        .formatted(kind, name, all.stream().map(nameOf).toList())));
    }

    private static String token(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new ReadException("The token of the kubeconfig can't be read: " + e, e);
        }
    }

    /** Runs a credential plugin, which may ask the user and write messages to standard error. */
    private static void authenticate(Config config, Cluster cluster, ExecConfig plugin, File folder) {
        String name = "The credential plugin %s of the kubeconfig".formatted(plugin.getCommand());
        try {
            Process process = started(config, cluster, plugin, folder);
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
            String hint = plugin.getInstallHint() == null ? "" : ". " + plugin.getInstallHint();
            throw new ReadException("%s can't be run: %s%s".formatted(name, e.getMessage(), hint), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ReadException("Interrupted", e);
        }
    }

    private static Process started(Config config, Cluster cluster, ExecConfig plugin, File folder) throws IOException {
        String authority = config.getCaCertFile() == null
                ? cluster.getCertificateAuthorityData()
                : Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(config.getCaCertFile())));
        boolean isInteractive = !"Never".equals(plugin.getInteractiveMode()) && System.console() != null;
        ObjectNode info =
                JSON.createObjectNode().put("kind", "ExecCredential").put("apiVersion", plugin.getApiVersion());
        ObjectNode spec = info.putObject("spec").put("interactive", isInteractive);
        if (Boolean.TRUE.equals(plugin.getProvideClusterInfo())) {
            spec.putObject("cluster").put("server", cluster.getServer()).put("certificate-authority-data", authority);
        }
        String command = Objects.requireNonNullElse(plugin.getCommand(), "");
        List<String> words = new ArrayList<>(Objects.requireNonNullElse(plugin.getArgs(), List.of()));
        words.add(0, command.contains("/") ? folder.toPath().resolve(command).toString() : command);
        ProcessBuilder builder = new ProcessBuilder(words)
                .redirectInput(isInteractive ? Redirect.INHERIT : Redirect.PIPE)
                .redirectError(Redirect.INHERIT);
        builder.environment().put("KUBERNETES_EXEC_INFO", info.toString());
        Stream.ofNullable(plugin.getEnv())
                .flatMap(List::stream)
                .forEach(one -> builder.environment().put(one.getName(), one.getValue()));
        return builder.start();
    }
}
