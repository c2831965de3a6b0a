// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.constructor.ConstructYamlNull;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.schema.FailsafeSchema;

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

    private final Map<File, Entry> files = new LinkedHashMap<>();

    private Kubeconfig(Collection<String> names) {
        for (String name : names) {
            File file = new File(name).getAbsoluteFile();
            JsonNode content = file.exists() && !file.isDirectory() ? parsed(file) : null; // it may be a pipe
            if (content != null) {
                files.put(
                        file,
                        new Entry(
                                "The kubeconfig " + file,
                                content,
                                file.getParentFile().toPath()));
            }
        }
    }

    /** Reads the first document, with each value as it is written; {@code null} if there is none. */
    private static @Nullable JsonNode parsed(File file) {
        LoadSettings settings = LoadSettings.builder()
                .setSchema(new FailsafeSchema())
                .setTagConstructors(Map.of(Tag.NULL, new ConstructYamlNull()))
                .setAllowDuplicateKeys(true)
                .build();
        try (InputStream text = new FileInputStream(file)) {
            for (Object document : new Load(settings).loadAllFromInputStream(text)) {
                if (document instanceof Map) {
                    return JSON.valueToTree(document);
                } else if (document != null && !document.equals("")) {
                    throw unreadable(file, "it has no fields", null);
                }
            }
            return null;
        } catch (MarkedYamlEngineException e) { // whose message quotes what may be a secret
            String line = e.getProblemMark()
                    .map(mark -> "line %d is ".formatted(mark.getLine() + 1))
                    .orElse("it is ");
            throw unreadable(file, line + "not YAML", null);
        } catch (YamlEngineException | IllegalArgumentException | IOException | StackOverflowError e) {
            throw unreadable(file, e.toString(), e);
        }
    }

    private static ReadException unreadable(File file, String problem, @Nullable Throwable cause) {
        return new ReadException("The kubeconfig %s can't be read: %s".formatted(file, problem), cause);
    }

    /**
     * Reads the named file and context, or else those that kubectl would take.
     *
     * @throws ReadException if they do not exist, or can't be used
     */
    static Config read(@Nullable Path file, @Nullable String context) {
        if (file != null && (!Files.exists(file) || Files.isDirectory(file))) {
            throw new ReadException("There is no kubeconfig file " + file);
        }
        Kubeconfig found = new Kubeconfig(file == null ? Config.getKubeconfigFilenames() : List.of(file.toString()));
        if (file != null || context != null || !found.files.isEmpty() || System.getenv(IN_CLUSTER) == null) {
            return found.config(context == null ? found.current() : context);
        }
        Config ofPod = Config.autoConfigure(null);
        setProxy(ofPod, null);
        return ofPod;
    }

    private String current() {
        return files.values().stream()
                .flatMap(one -> Stream.ofNullable(one.text("current-context")))
                .findFirst()
                .orElseThrow(() -> new ReadException("There is no kubeconfig: set KUBECONFIG or --kubeconfig, or have a"
                        + " ~/.kube/config with a current context"));
    }

    private Config config(String name) {
        Entry context = find("context", name);
        Entry cluster = find("cluster", context.required("cluster"));
        String userName = context.text(USER);
        Entry user = userName == null ? context.part(USER) : find(USER, userName);
        Entry plugin = user.part("exec");
        Config config = Config.empty();
        if (user.part("auth-provider").isThere() && !plugin.isThere()) {
            KubeConfigUtils.merge( // the client gets a new token, and writes it to the file
                    config,
                    name,
                    files.keySet().stream()
                            .map(KubeConfigUtils::parseConfig)
                            .toArray(io.fabric8.kubernetes.api.model.Config[]::new));
        }
        config.setNamespace(context.text("namespace"));
        setServer(config, cluster);
        setUser(config, user);
        if (plugin.isThere()) {
            authenticate(config, cluster, plugin);
        }
        return config;
    }

    private static void setServer(Config config, Entry cluster) {
        config.setMasterUrl(cluster.required("server"));
        boolean isInsecure = cluster.flag("insecure-skip-tls-verify");
        config.setTrustCerts(isInsecure);
        config.setDisableHostnameVerification(isInsecure);
        config.setCaCertFile(cluster.file("certificate-authority"));
        config.setCaCertData(cluster.text("certificate-authority-data"));
        if (cluster.text("tls-server-name") != null) {
            throw cluster.unusable("tls-server-name", "supported");
        }
        setProxy(config, cluster.text("proxy-url"));
    }

    private static void setUser(Config config, Entry user) {
        config.setClientCertFile(user.file("client-certificate"));
        config.setClientCertData(user.text("client-certificate-data"));
        config.setClientKeyFile(user.file("client-key"));
        config.setClientKeyData(user.text("client-key-data"));
        config.setClientKeyAlgo(Config.getKeyAlgorithm(config.getClientKeyFile(), config.getClientKeyData()));
        config.setUsername(user.text("username"));
        config.setPassword(user.text("password"));
        String tokenFile = user.file("tokenFile");
        config.setOauthToken(tokenFile == null ? user.text("token") : token(Path.of(tokenFile)));
        if (user.text("as") != null) {
            config.setImpersonateUsername(user.text("as"));
            if (user.text("as-uid") != null) {
                config.setCustomHeaders(Map.of("Impersonate-Uid", user.text("as-uid")));
            }
            config.setImpersonateGroups(user.texts("as-groups").toArray(String[]::new));
            Entry extra = user.part("as-user-extra");
            Map<String, List<String>> texts = new LinkedHashMap<>();
            extra.content.fieldNames().forEachRemaining(key -> texts.put(key, extra.texts(key)));
            config.setImpersonateExtras(texts);
        }
    }

    private static void setProxy(Config config, @Nullable String ofCluster) {
        String proxy = HttpProxy.of(config.getMasterUrl(), ofCluster, System.getenv());
        config.setHttpProxy(proxy);
        config.setHttpsProxy(proxy);
        config.setNoProxy(null);
    }

    private Entry find(String kind, String name) {
        List<@Nullable String> names = new ArrayList<>();
        for (Entry file : files.values()) {
            for (Entry one : file.list(kind + "s")) {
                names.add(one.text("name"));
                Entry content = one.part(kind);
                if (name.equals(one.text("name")) && (content.isThere() || kind.equals(USER))) {
                    String title = "The %s \"%s\" of the kubeconfig".formatted(kind, name);
                    return new Entry(title, content.content, content.folder);
                }
            }
        }
        throw new ReadException("The kubeconfig has no %s \"%s\"; it has %s".formatted(kind, name, names));
    }

    /**
     * A kubeconfig, or a part of one.
     *
     * @param title what messages call it
     * @param folder the folder of its file, which its paths may be relative to
     */
    private record Entry(String title, JsonNode content, Path folder) {

        private static final Set<String> NOTHING = Set.of("", "null", "Null", "NULL", "~");

        private boolean isThere() {
            return content.isObject();
        }

        private @Nullable String text(String name) {
            JsonNode found = find(name, JsonNodeType.STRING, "text");
            return found.isMissingNode() ? null : found.asText();
        }

        private String required(String name) {
            String text = text(name);
            if (text == null) {
                throw new ReadException("%s has no %s".formatted(title, name));
            }
            return text;
        }

        private @Nullable String file(String name) {
            String path = text(name);
            return path == null ? null : folder.resolve(path).toString();
        }

        private boolean flag(String name) {
            String text = Objects.requireNonNullElse(text(name), "false");
            if (!text.matches("(?i)true|false|yes|no|on|off|y|n")) {
                throw unusable(name, "true or false");
            }
            return text.matches("(?i)true|yes|on|y");
        }

        private List<String> texts(String name) {
            List<String> texts = new ArrayList<>();
            for (JsonNode one : find(name, JsonNodeType.ARRAY, "a list")) {
                if (one.isContainerNode()) {
                    throw unusable(name, "a list of texts");
                }
                texts.add(one.asText(""));
            }
            return texts;
        }

        private Entry part(String name) {
            return new Entry(title + ", " + name, find(name, JsonNodeType.OBJECT, "an object"), folder);
        }

        private List<Entry> list(String name) {
            return find(name, JsonNodeType.ARRAY, "a list")
                    .valueStream()
                    .map(one -> new Entry(title + ", " + name, one, folder))
                    .toList();
        }

        /** Returns a value of a type; missing if there is none. */
        private JsonNode find(String name, JsonNodeType type, String description) {
            JsonNode found = content.path(name);
            if (found.isMissingNode() || found.isNull() || (found.isTextual() && NOTHING.contains(found.asText()))) {
                return MissingNode.getInstance();
            }
            if (found.getNodeType() != type) {
                throw unusable(name, description);
            }
            return found;
        }

        private ReadException unusable(String name, String description) {
            return new ReadException("%s can't be used: its %s is not %s".formatted(title, name, description));
        }
    }

    private static @Nullable String authority(Config config) {
        if (config.getCaCertData() != null || config.getCaCertFile() == null) {
            return config.getCaCertData();
        }
        try {
            return Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(config.getCaCertFile())));
        } catch (IOException e) {
            throw new ReadException("The certificate authority of the kubeconfig can't be read: " + e, e);
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
            String token = status.path("token").asText("");
            String certificate = status.path("clientCertificateData").asText("");
            if (!certificate.isEmpty()) {
                config.setClientCertData(certificate);
                config.setClientKeyData(status.path("clientKeyData").asText(""));
                config.setClientKeyAlgo(Config.getKeyAlgorithm(null, config.getClientKeyData()));
            } else if (token.isEmpty()) {
                throw new ReadException(name + " has returned neither a token nor a certificate");
            }
            config.setOauthToken(token.isEmpty() ? null : token);
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
        boolean isInteractive = !"Never".equals(plugin.text("interactiveMode"))
                && (Boolean.getBoolean("kubectl-dra.terminal") || System.console() != null);
        ObjectNode info =
                JSON.createObjectNode().put("kind", "ExecCredential").put("apiVersion", plugin.text("apiVersion"));
        ObjectNode spec = info.putObject("spec").put("interactive", isInteractive);
        if (plugin.flag("provideClusterInfo")) {
            spec.putObject("cluster")
                    .put("server", cluster.text("server"))
                    .put("insecure-skip-tls-verify", config.isTrustCerts())
                    .put("certificate-authority-data", authority(config))
                    .put("proxy-url", cluster.text("proxy-url"));
        }
        String command = Objects.requireNonNullElse(plugin.text("command"), "");
        List<String> words = new ArrayList<>(plugin.texts("args"));
        words.add(0, command.contains("/") ? plugin.file("command") : command);
        ProcessBuilder builder = new ProcessBuilder(words)
                .redirectInput(isInteractive ? Redirect.INHERIT : Redirect.PIPE)
                .redirectError(Redirect.INHERIT);
        builder.environment().put("KUBERNETES_EXEC_INFO", info.toString());
        for (Entry variable : plugin.list("env")) {
            String value = Objects.requireNonNullElse(variable.text("value"), "");
            builder.environment().put(variable.required("name"), value);
        }
        return builder.start();
    }
}
