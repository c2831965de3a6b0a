// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.settings;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Everything that {@code dra-conformance run} is told.
 *
 * @param driver the driver under test
 * @param apiServer the API server that the driver talks to
 * @param profiles the profiles to try; empty means all
 * @param only the requirements to try, by id; empty means all
 * @param skip requirements to leave out, by id; they make their profile partial
 * @param patience how many times longer to wait where no contract sets the time
 * @param strict whether the SHOULDs that strict turns into MUSTs are MUSTs
 * @param seed what is random comes from it
 * @param implementation who made the driver, for the report
 */
public record Settings(
        DriverSettings driver,
        ApiServerSettings apiServer,
        List<String> profiles,
        List<String> only,
        List<String> skip,
        double patience,
        boolean strict,
        long seed,
        Map<String, String> implementation) {

    /** Fills in what was left out. */
    public Settings {
        if (driver == null) {
            throw new SettingsException("driver is missing: what is to be tested");
        }
        apiServer = apiServer == null ? ApiServerSettings.EMBEDDED : apiServer;
        profiles = profiles == null ? List.of() : List.copyOf(profiles);
        only = only == null ? List.of() : List.copyOf(only);
        skip = skip == null ? List.of() : List.copyOf(skip);
        patience = patience == 0 ? 1 : patience;
        if (!(patience > 0 && patience <= 100)) {
            throw new SettingsException("patience must be between 0 and 100, not " + patience);
        }
        implementation = implementation == null ? Map.of() : Map.copyOf(implementation);
    }

    /**
     * The API server.
     *
     * @param kubernetes the release that the embedded one behaves as, for example {@code 1.36}
     * @param kubeconfig a real one instead; empty for the embedded
     * @param context the kubeconfig's context; empty for its current one
     */
    public record ApiServerSettings(String kubernetes, String kubeconfig, String context) {

        /** The embedded one. */
        public static final ApiServerSettings EMBEDDED = new ApiServerSettings("1.36", "", "");

        /** Fills in what was left out. */
        public ApiServerSettings {
            kubernetes = kubernetes == null || kubernetes.isEmpty() ? "1.36" : kubernetes;
            kubeconfig = kubeconfig == null ? "" : kubeconfig;
            context = context == null ? "" : context;
        }

        /** Whether it is the suite's own. */
        public boolean isEmbedded() {
            return kubeconfig.isEmpty();
        }
    }

    private static ObjectMapper yaml() {
        return JsonMapper.builder(new YAMLFactory())
                .findAndAddModules()
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();
    }

    /**
     * Reads a file of settings.
     *
     * @throws SettingsException if it cannot be read or says what nobody understands
     */
    public static Settings read(Path file) {
        try {
            return parse(Files.readString(file), file.toString());
        } catch (IOException e) {
            throw new SettingsException("Can't read the settings " + file + ": " + reason(e));
        }
    }

    /** Parses settings; the name is for messages. */
    public static Settings parse(String text, String name) {
        try {
            @Nullable Settings settings = yaml().readValue(text, Settings.class);
            if (settings == null) {
                throw new SettingsException(name + " is empty");
            }
            return settings;
        } catch (JsonProcessingException e) {
            throw new SettingsException(name + ": " + explained(e));
        }
    }

    private static String explained(JsonProcessingException e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof SettingsException) {
                return String.valueOf(cause.getMessage());
            }
        }
        String line = e.getLocation() == null ? "" : "line " + e.getLocation().getLineNr() + ": ";
        String path = e instanceof JsonMappingException mapping ? path(mapping) : "";
        String first = e.getOriginalMessage().lines().findFirst().orElse("");
        return line + path + first.replaceAll(" \\(class [^)]*\\)", "");
    }

    private static String path(JsonMappingException e) {
        String path =
                e.getPath().stream()
                        .map(
                                r ->
                                        r.getFieldName() == null
                                                ? "[" + r.getIndex() + "]"
                                                : r.getFieldName())
                        .collect(Collectors.joining("."));
        return path.isEmpty() ? "" : path + ": ";
    }

    private static String reason(IOException e) {
        return e instanceof java.nio.file.NoSuchFileException ? "no such file" : e.getMessage();
    }
}
