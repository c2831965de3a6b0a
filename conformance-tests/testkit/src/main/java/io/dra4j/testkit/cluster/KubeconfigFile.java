// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.testkit.proxy.UpstreamException;
import io.fabric8.kubernetes.api.model.AuthInfo;
import io.fabric8.kubernetes.api.model.Config;
import io.fabric8.kubernetes.api.model.Context;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.api.model.NamedContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One context of a kubeconfig, with all its references resolved: fabric8 itself uses the current context instead of an
 * unknown one, and a default server instead of that of an unknown cluster.
 *
 * @param user the credentials; empty ones where the context names no user
 */
record KubeconfigFile(Path file, String context, AuthInfo user) {

    /** Avoids fabric8's reader, whose exceptions for broken YAML are those of another library. */
    private static final ObjectMapper YAML = YAMLMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    /**
     * @param wanted the context; empty for the current one
     * @throws UpstreamException if the file cannot be read or refers to something that it does not contain
     */
    static KubeconfigFile read(Path file, String wanted) {
        Config config = parse(file, text(file));
        String name = wanted.isEmpty() ? orEmpty(config.getCurrentContext()) : wanted;
        if (name.isEmpty()) {
            throw new UpstreamException("The kubeconfig %s has no current-context; name one of its contexts: %s"
                    .formatted(file, contexts(config)));
        }
        String unknown = "The kubeconfig %s has no context \"%s\"; it has: %s".formatted(file, name, contexts(config));
        Context context = config.getContexts().stream()
                .filter(one -> name.equals(one.getName()) && one.getContext() != null)
                .map(NamedContext::getContext)
                .findFirst()
                .orElseThrow(() -> new UpstreamException(unknown));
        requireCluster(file, config, name, orEmpty(context.getCluster()));
        return new KubeconfigFile(file, name, user(file, config, name, context.getUser()));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.UTF_8);
        } catch (NoSuchFileException e) {
            throw new UpstreamException("No such kubeconfig: " + file, e);
        } catch (AccessDeniedException e) {
            throw new UpstreamException("The kubeconfig " + file + " may not be read", e);
        } catch (IOException e) {
            throw new UpstreamException("The kubeconfig " + file + " cannot be read: " + firstLine(e), e);
        }
    }

    private static Config parse(Path file, String text) {
        try {
            Config config = YAML.readValue(text, Config.class);
            if (config != null && !config.getContexts().isEmpty()) {
                return config;
            }
        } catch (JsonProcessingException e) {
            throw new UpstreamException("The file " + file + " is not a kubeconfig: " + firstLine(e), e);
        }
        throw new UpstreamException("The file " + file + " is not a kubeconfig: it has no contexts");
    }

    private static void requireCluster(Path file, Config config, String context, String name) {
        boolean found = config.getClusters().stream()
                .filter(cluster -> name.equals(cluster.getName()))
                .map(NamedCluster::getCluster)
                .anyMatch(cluster -> cluster != null && cluster.getServer() != null);
        if (!found) {
            throw new UpstreamException(
                    "The kubeconfig %s has no server of a cluster \"%s\", which its context \"%s\" names"
                            .formatted(file, name, context));
        }
    }

    private static AuthInfo user(Path file, Config config, String context, @Nullable String name) {
        if (name == null || name.isEmpty()) {
            return new AuthInfo();
        }
        String unknown =
                "The kubeconfig %s has no user \"%s\", which its context \"%s\" names".formatted(file, name, context);
        NamedAuthInfo user = config.getUsers().stream()
                .filter(one -> name.equals(one.getName()))
                .findFirst()
                .orElseThrow(() -> new UpstreamException(unknown));
        return user.getUser() == null ? new AuthInfo() : user.getUser();
    }

    private static String contexts(Config config) {
        List<NamedContext> contexts = config.getContexts();
        return contexts.stream().map(NamedContext::getName).collect(Collectors.joining(", "));
    }

    /** A path in the file, relative to the file's folder. */
    Path beside(String path) {
        return file.toAbsolutePath().resolveSibling(path);
    }

    /** The kubeconfig and the context, as messages name them. */
    String described() {
        return "context \"%s\" in %s".formatted(context, file);
    }

    /** Returns a failure in one line, because messages of fabric8 and Jackson quote much of the file. */
    static String firstLine(Throwable failure) {
        Throwable deepest = failure;
        while (deepest.getCause() != null) {
            deepest = deepest.getCause();
        }
        String message = String.valueOf(deepest.getMessage()).strip();
        return message.lines().findFirst().orElse(deepest.getClass().getSimpleName());
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
