// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.doctor;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks that the container runtime has CDI on, and reads the directory that the driver writes.
 *
 * @param runtime reads the Node's {@code containerRuntimeVersion}
 */
record RuntimeCdiCheck(Supplier<String> runtime, HostRoot host, Path cdiRoot) implements Check {

    @Override
    public String id() {
        return "cdi";
    }

    @Override
    public CheckResult look() {
        RuntimeConfig config = RuntimeConfig.of(runtime.get(), host);
        if (!config.enabled()) {
            return CheckResult.found(disabled(config));
        }
        if (!config.reads(cdiRoot.toString())) {
            return CheckResult.found(otherDirectory(config));
        }
        return CheckResult.healthy(
                "%s reads CDI specs of %s".formatted(config.runtime(), String.join(", ", config.directories())));
    }

    private Finding disabled(RuntimeConfig config) {
        return new Finding(
                id(),
                Severity.ERROR,
                config.file(),
                "CDI is off in %s".formatted(config.runtime()),
                "the kubelet passes the devices of claims to the runtime through CDI: containers start without them, or fail",
                List.of(
                        config.unit().equals("crio")
                                ? "# %s, table [crio.runtime]: cdi_spec_dirs = [\"/etc/cdi\", \"%s\"]"
                                        .formatted(config.file(), cdiRoot)
                                : "# %s, table [plugins.\"io.containerd.grpc.v1.cri\"]: enable_cdi = true"
                                        .formatted(edited(config)),
                        "sudo systemctl restart " + config.unit()));
    }

    /** The file to edit: k3s and RKE2 generate theirs from a template. */
    private static String edited(RuntimeConfig config) {
        return config.file().contains("/rancher/") ? config.file() + ".tmpl" : config.file();
    }

    private Finding otherDirectory(RuntimeConfig config) {
        List<String> directories = config.directories();
        String read = directories.isEmpty() ? "no directory" : String.join(", ", directories);
        return new Finding(
                id(),
                Severity.ERROR,
                config.file(),
                "%s reads CDI specs of %s, and the driver writes them to %s".formatted(config.runtime(), read, cdiRoot),
                "containers with a claim fail: the runtime does not know the devices (unresolvable CDI devices)",
                List.of(
                        directories.isEmpty()
                                ? "# add %s to cdi_spec_dirs of %s".formatted(cdiRoot, edited(config))
                                : "# start the driver with --cdi-root=%s (charts: cdiRoot), or add %s to cdi_spec_dirs of %s"
                                        .formatted(directories.get(directories.size() - 1), cdiRoot, edited(config)),
                        "sudo systemctl restart " + config.unit()));
    }

    /**
     * The settings of CDI in a container runtime's configuration.
     *
     * @param runtime such as {@code containerd 1.7.27}
     * @param file the configuration
     * @param directories where specs are read
     * @param unit of systemd, which reads the configuration when it is restarted
     */
    private record RuntimeConfig(String runtime, String file, boolean enabled, List<String> directories, String unit) {

        private static final List<String> DEFAULT_DIRECTORIES = List.of("/etc/cdi", "/var/run/cdi");

        private static final String USUAL = "/etc/containerd/config.toml";

        /** The paths of distributions come first: their nodes may have a stale file at the usual path. */
        private static final List<String> CONTAINERD = List.of(
                "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
                "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
                "/var/snap/microk8s/current/args/containerd.toml",
                "/etc/k0s/containerd.toml",
                "/etc/cri/containerd.toml",
                "/etc/containerd/config-kops.toml",
                USUAL);

        /** The containerd that k3s and RKE2 bundle appends this to its version. */
        private static final String OF_K3S = "-k3s";

        private static final String CRIO = "/etc/crio/crio.conf";
        private static final String[] PLUGIN_OF_2 = {"plugins", "io.containerd.cri.v1.runtime"};
        private static final String[] PLUGIN_OF_1 = {"plugins", "io.containerd.grpc.v1.cri"};

        /**
         * Reads it.
         *
         * @param reported the Node's {@code containerRuntimeVersion}
         * @throws NotCheckedException if the runtime is another one, or the file is not visible
         */
        static RuntimeConfig of(String reported, HostRoot host) {
            String[] parts = reported.split("://", 2);
            String version = parts.length == 2 ? parts[1].replaceFirst("^v", "") : "";
            return switch (parts[0]) {
                case "containerd" -> ofContainerd(version, host);
                case "cri-o" -> ofCrio(version, host);
                default -> throw new NotCheckedException("the runtime \"%s\" is unknown".formatted(reported));
            };
        }

        private static RuntimeConfig ofContainerd(String version, HostRoot host) {
            boolean isOld = version.startsWith("1.");
            if (version.matches("1\\.[0-6]\\D.*")) {
                throw new NotCheckedException("containerd %s has no CDI: runtime-version".formatted(version));
            }
            Optional<String> seen = file(version, host);
            if (seen.isEmpty() && isOld) {
                throw new NotCheckedException(
                        "no configuration of containerd %s is found in the usual places, and without one CDI is off. On the node: containerd config dump | grep enable_cdi, with --config=FILE where containerd runs with another"
                                .formatted(version));
            }
            TomlKeys keys = new TomlKeys();
            seen.ifPresent(file -> {
                keys.read(host.read(file));
                imports(keys, file, host).forEach(one -> keys.read(host.read(one)));
            });
            String file = seen.orElse(USUAL);
            Optional<String> enabled = key(keys, "enable_cdi");
            return new RuntimeConfig(
                    "containerd " + version,
                    file,
                    enabled.map("true"::equals).orElse(!isOld),
                    directories(keys).orElse(DEFAULT_DIRECTORIES),
                    unit(file));
        }

        /** The file in use, if it is in a usual place; k3s reads no other. */
        private static Optional<String> file(String version, HostRoot host) {
            return CONTAINERD.stream()
                    .filter(file -> !version.contains(OF_K3S) || file.contains("/rancher/"))
                    .filter(host::exists)
                    .findFirst();
        }

        private static Optional<String> key(TomlKeys keys, String name) {
            return keys.text(PLUGIN_OF_2[0], PLUGIN_OF_2[1], name)
                    .or(() -> keys.text(PLUGIN_OF_1[0], PLUGIN_OF_1[1], name));
        }

        private static Optional<List<String>> directories(TomlKeys keys) {
            return keys.texts(PLUGIN_OF_2[0], PLUGIN_OF_2[1], "cdi_spec_dirs")
                    .or(() -> keys.texts(PLUGIN_OF_1[0], PLUGIN_OF_1[1], "cdi_spec_dirs"));
        }

        /** Files of patterns such as {@code /etc/containerd/conf.d/*.toml}. */
        private static List<String> imports(TomlKeys keys, String file, HostRoot host) {
            String folder = file.substring(0, file.lastIndexOf('/'));
            return keys.texts("imports").orElse(List.of()).stream()
                    .map(pattern -> pattern.startsWith("/") ? pattern : folder + "/" + pattern)
                    .flatMap(pattern -> matching(pattern, host).stream())
                    .toList();
        }

        private static List<String> matching(String pattern, HostRoot host) {
            int slash = pattern.lastIndexOf('/');
            String name = pattern.substring(slash + 1);
            if (name.contains("*")) {
                return host.files(pattern.substring(0, slash), name);
            }
            return host.exists(pattern) ? List.of(pattern) : List.of();
        }

        private static String unit(String file) {
            if (file.contains("/k3s/")) {
                return "k3s";
            }
            if (file.contains("/rke2/")) {
                return "rke2-agent";
            }
            if (file.contains("/k0s/")) {
                return "k0sworker";
            }
            return file.contains("/microk8s/") ? "snap.microk8s.daemon-containerd" : "containerd";
        }

        private static RuntimeConfig ofCrio(String version, HostRoot host) {
            TomlKeys keys = new TomlKeys();
            if (host.exists(CRIO)) {
                keys.read(host.read(CRIO));
            }
            host.files(CRIO + ".d", "*").forEach(file -> keys.read(host.read(file)));
            List<String> directories =
                    keys.texts("crio", "runtime", "cdi_spec_dirs").orElse(DEFAULT_DIRECTORIES);
            return new RuntimeConfig("CRI-O " + version, CRIO, !directories.isEmpty(), directories, "crio");
        }

        /** Returns whether specs of a directory are read; {@code /var/run} is {@code /run}. */
        boolean reads(String directory) {
            return directories.stream().anyMatch(one -> run(one).equals(run(directory)));
        }

        private static String run(String directory) {
            String bare = directory.replaceAll("/+$", "");
            return bare.startsWith("/var/run/") ? bare.substring("/var".length()) : bare;
        }

        /**
         * The keys of a configuration in TOML, with the text of their values.
         *
         * <p>It supports the part of TOML that container runtimes' configurations use: tables, dotted and quoted keys,
         * comments, arrays over several lines. Inline tables and multi-line strings are not read.
         */
        private static final class TomlKeys {

            private static final Pattern PART =
                    Pattern.compile("\\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))\\s*(\\.|$)");
            private static final Pattern TEXT = Pattern.compile("\"([^\"]*)\"|'([^']*)'");

            private final Map<List<String>, String> values = new LinkedHashMap<>();

            /** Reads a file's text; keys of later texts override earlier ones. */
            void read(String text) {
                List<String> table = List.of();
                StringBuilder value = new StringBuilder();
                List<String> key = List.of();
                for (String line : text.lines().map(TomlKeys::withoutComment).toList()) {
                    int equals = indexOutsideQuotes(line, '=');
                    if (!key.isEmpty()) {
                        value.append(' ').append(line);
                    } else if (line.startsWith("[") && equals < 0) {
                        table = parts(line.replaceAll("^\\[+|]+$", ""));
                        continue;
                    } else if (equals > 0) {
                        key = new ArrayList<>(table);
                        key.addAll(parts(line.substring(0, equals)));
                        value.setLength(0);
                        value.append(line.substring(equals + 1).strip());
                    }
                    if (!key.isEmpty() && isComplete(value)) {
                        values.put(List.copyOf(key), value.toString());
                        key = List.of();
                    }
                }
            }

            private static boolean isComplete(CharSequence value) {
                String text = value.toString();
                return !text.startsWith("[") || text.stripTrailing().endsWith("]");
            }

            private static String withoutComment(String line) {
                int comment = indexOutsideQuotes(line, '#');
                return (comment < 0 ? line : line.substring(0, comment)).strip();
            }

            private static int indexOutsideQuotes(String line, char wanted) {
                char quote = 0;
                for (int i = 0; i < line.length(); i++) {
                    char c = line.charAt(i);
                    if (quote != 0) {
                        quote = c == quote ? 0 : quote;
                    } else if (c == '"' || c == '\'') {
                        quote = c;
                    } else if (c == wanted) {
                        return i;
                    }
                }
                return -1;
            }

            private static List<String> parts(String key) {
                List<String> parts = new ArrayList<>();
                Matcher matcher = PART.matcher(key);
                while (matcher.find()) {
                    for (int group = 1; group <= 3; group++) {
                        if (matcher.group(group) != null) {
                            parts.add(matcher.group(group));
                        }
                    }
                }
                return parts;
            }

            Optional<String> text(String... key) {
                return Optional.ofNullable(values.get(List.of(key)));
            }

            /** The strings of an array; empty if there is no such key. */
            Optional<List<String>> texts(String... key) {
                return text(key)
                        .map(array -> TEXT.matcher(array)
                                .results()
                                .map(one -> one.group(1) == null ? one.group(2) : one.group(1))
                                .toList());
            }
        }
    }
}
