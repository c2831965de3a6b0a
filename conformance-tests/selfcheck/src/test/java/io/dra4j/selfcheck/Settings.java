// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The settings with which the driver is started, under the names that the fake driver has for it:
 * {@code --name value}, {@code --name=value} or the environment's {@code NAME}.
 *
 * <p>Read without a library: this driver is started hundreds of times, and is to be there at once.
 */
record Settings(Map<String, String> values) {

    private static final Set<String> NAMES = Set.of(
            "--node-name",
            "--driver-name",
            "--kubeconfig",
            "--cdi-root",
            "--kubelet-plugins-directory-path",
            "--kubelet-registrar-directory-path",
            "--proc-root",
            "--pod-uid",
            "--num-devices",
            "--gpu-partitions",
            "--gpu-allow-multiple-allocations",
            "--gpu-device-status",
            "--gpu-device-metadata",
            "--fault-file",
            "--metrics-port",
            "--faults",
            "--device-nodes",
            "--health",
            "--fault",
            "--variant");

    Settings {
        values = Map.copyOf(values);
    }

    static Settings parse(String[] arguments, Map<String, String> environment) {
        Map<String, String> values = new HashMap<>();
        for (String name : NAMES) {
            String variable = name.substring(2).replace('-', '_').toUpperCase(Locale.ROOT);
            if (!environment.getOrDefault(variable, "").isEmpty()) {
                values.put(name, environment.get(variable));
            }
        }
        for (int at = 0; at < arguments.length; at++) {
            String[] parts = arguments[at].split("=", 2);
            if (!NAMES.contains(parts[0])) {
                throw new IllegalArgumentException("Unknown option " + parts[0]);
            }
            if (parts.length == 2) {
                values.put(parts[0], parts[1]);
            } else if (at + 1 < arguments.length && !arguments[at + 1].startsWith("--")) {
                values.put(parts[0], arguments[++at]);
            } else {
                values.put(parts[0], "true");
            }
        }
        return new Settings(values);
    }

    /** The same, but for one option. */
    Settings with(String name, String value) {
        Map<String, String> changed = new HashMap<>(values);
        changed.put(name, value);
        return new Settings(changed);
    }

    String text(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    boolean is(String name) {
        return Boolean.parseBoolean(text(name, "false"));
    }

    int number(String name, int otherwise) {
        return Integer.parseInt(text(name, "" + otherwise));
    }

    String node() {
        return text("--node-name", "");
    }

    String driver() {
        return text("--driver-name", "gpu.example.com");
    }

    String podUid() {
        return text("--pod-uid", "");
    }

    Path cdi() {
        return Path.of(text("--cdi-root", "/var/run/cdi"));
    }

    Path registry() {
        return Path.of(text("--kubelet-registrar-directory-path", "/var/lib/kubelet/plugins_registry"));
    }

    /** The driver's own directory. */
    Path data() {
        return Path.of(text("--kubelet-plugins-directory-path", "/var/lib/kubelet/plugins"))
                .resolve(driver());
    }

    boolean health() {
        return Boolean.parseBoolean(text("--health", "true"));
    }

    /** Returns the id of the node's boot. */
    String boot() {
        try {
            return Files.readString(Path.of(text("--proc-root", "/proc"), "sys/kernel/random/boot_id"))
                    .strip();
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** A file that the kubeconfig names; its folder if it names none. */
    Path fileOfKubeconfig(String key) {
        return Path.of(text("--kubeconfig", "")).resolveSibling(kubeconfig(key));
    }

    /** One value of the kubeconfig, which the suite has written: flat lines, so no YAML is read. */
    String kubeconfig(String key) {
        try {
            String content = Files.readString(Path.of(text("--kubeconfig", "")));
            Matcher line =
                    Pattern.compile("\"?" + key + "\"?:\\s*\"?([^\"\\s,}]+)").matcher(content);
            return line.find() ? line.group(1) : "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
