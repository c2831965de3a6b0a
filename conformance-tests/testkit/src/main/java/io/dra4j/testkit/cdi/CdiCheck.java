// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cdi;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Validates CDI specs: the fields of CDI 1.1 and no others, of the right types, with devices that have edits.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
public final class CdiCheck {

    private static final long UINT32 = 0xffff_ffffL;
    private static final SpecField ID = SpecField.number(0, UINT32);
    private static final SpecField FILLED = SpecField.text(".+", "a string that is not empty");
    private static final SpecField ENV =
            SpecField.list(SpecField.text("[^=]+=.*", "an environment variable NAME=value"));

    private static final SpecField NODE = SpecField.object()
            .needs("path", SpecField.path())
            .may("hostPath", SpecField.path())
            .may("type", SpecField.text("[bcup]?", "a type of device node, b, c, u or p"))
            .may("major", SpecField.number(0, Long.MAX_VALUE))
            .may("minor", SpecField.number(0, Long.MAX_VALUE))
            .may("fileMode", ID)
            .may("permissions", SpecField.text("[rwm]*", "permissions made of the letters r, w, m"))
            .may("uid", ID)
            .may("gid", ID);
    private static final SpecField MOUNT = SpecField.object()
            .needs("hostPath", FILLED)
            .needs("containerPath", SpecField.path())
            .may("options", SpecField.list(SpecField.text()))
            .may("type", SpecField.text())
            .and(CdiCheck::mountsAFile);
    private static final SpecField HOOK_NAME = SpecField.text(
            "prestart|createRuntime|createContainer|startContainer|poststart|poststop",
            "a hook of the OCI runtime specification");
    private static final SpecField HOOK = SpecField.object()
            .needs("hookName", HOOK_NAME)
            .needs("path", SpecField.path())
            .may("args", SpecField.list(SpecField.text()))
            .may("env", ENV)
            .may("timeout", SpecField.number(0, Integer.MAX_VALUE));
    private static final SpecField NET_DEVICE =
            SpecField.object().needs("hostInterfaceName", FILLED).needs("name", FILLED);
    private static final SpecField NET_DEVICES = SpecField.list(NET_DEVICE)
            .and(SpecField.unique("hostInterfaceName"))
            .and(SpecField.unique("name"));
    private static final SpecField DIRECTORY_NAME =
            SpecField.text("(?!\\.{1,2}$)[^/\\n]{0,4095}", "the name of a directory");
    private static final SpecField RDT = SpecField.object()
            .may("closID", DIRECTORY_NAME)
            .may("l3CacheSchema", SpecField.text())
            .may("memBwSchema", SpecField.text())
            .may("schemata", SpecField.list(SpecField.text()))
            .may("enableMonitoring", SpecField.bool());
    private static final SpecField EDITS = SpecField.object()
            .may("env", ENV)
            .may("deviceNodes", SpecField.list(NODE))
            .may("netDevices", NET_DEVICES)
            .may("hooks", SpecField.list(HOOK))
            .may("mounts", SpecField.list(MOUNT))
            .may("intelRdt", RDT)
            .may("additionalGids", SpecField.list(ID));
    private static final SpecField DEVICE = SpecField.object()
            .needs("name", SpecField.text(CdiName::problemOfDevice))
            .may("annotations", SpecField.texts())
            .needs("containerEdits", EDITS.and(CdiCheck::areNotEmpty));
    private static final SpecField DEVICES =
            SpecField.list(DEVICE).and(SpecField.unique("name")).and(CdiCheck::hasAnElement);
    private static final SpecField SPEC = SpecField.object()
            .needs("cdiVersion", FILLED)
            .needs("kind", SpecField.text(CdiName::problemOfKind))
            .may("annotations", SpecField.texts())
            .needs("devices", DEVICES)
            .may("containerEdits", EDITS);

    private CdiCheck() {}

    /** Returns the problems of a spec, a line each; its version is not checked. */
    public static List<String> problems(JsonNode spec) {
        List<String> problems = new ArrayList<>();
        SPEC.of(spec, "", problems);
        return problems.stream().map(String::strip).toList();
    }

    /** A bind mount has a path on the host; others, such as tmpfs, may have any word. */
    private static void mountsAFile(JsonNode mount, String path, List<String> problems) {
        String type = mount.path("type").asText();
        boolean ofFile = type.isEmpty() || type.equals("bind") || type.equals("none");
        if (ofFile && !mount.path("hostPath").asText("/").startsWith("/")) {
            problems.add(path + ".hostPath must be an absolute path, not " + mount.get("hostPath"));
        }
    }

    private static void areNotEmpty(JsonNode edits, String path, List<String> problems) {
        boolean nothing = edits.valueStream().allMatch(one -> one.isEmpty() && (!one.isValueNode() || one.isNull()));
        if (edits.isObject() && nothing) {
            problems.add(path + " is empty: a device must have edits");
        }
    }

    private static void hasAnElement(JsonNode list, String path, List<String> problems) {
        if (list.isArray() && list.isEmpty()) {
            problems.add(path + " is empty: a spec must have at least one device");
        }
    }

    /** Checks a value of a spec, and adds a line for each problem. */
    @FunctionalInterface
    private interface SpecField {

        void of(JsonNode value, String path, List<String> problems);

        /** This check, and then another. */
        default SpecField and(SpecField other) {
            return (value, path, problems) -> {
                of(value, path, problems);
                other.of(value, path, problems);
            };
        }

        /** A string whose problem a function returns. */
        static SpecField text(Function<String, Optional<String>> problem) {
            return (value, path, problems) -> {
                if (!value.isTextual()) {
                    problems.add(path + " must be a string, not " + value);
                } else {
                    problem.apply(value.asText()).ifPresent(what -> problems.add(path + " " + what));
                }
            };
        }

        static SpecField text() {
            return text(value -> Optional.empty());
        }

        /** A string of some form, which the words describe. */
        static SpecField text(String form, String words) {
            Pattern pattern = Pattern.compile(form, Pattern.DOTALL);
            return text(value -> pattern.matcher(value).matches()
                    ? Optional.empty()
                    : Optional.of("must be " + words + ", not \"" + value + "\""));
        }

        static SpecField path() {
            return text("/.*", "an absolute path");
        }

        /** A whole number within limits. */
        static SpecField number(long least, long most) {
            return (value, path, problems) -> {
                boolean whole = value.isIntegralNumber() && value.canConvertToLong();
                if (!whole || value.asLong() < least || value.asLong() > most) {
                    problems.add("%s must be a whole number from %d to %d, not %s".formatted(path, least, most, value));
                }
            };
        }

        static SpecField bool() {
            return (value, path, problems) -> {
                if (!value.isBoolean()) {
                    problems.add(path + " must be true or false, not " + value);
                }
            };
        }

        static SpecField list(SpecField element) {
            return (value, path, problems) -> {
                if (!value.isArray()) {
                    problems.add(path + " must be a list, not " + value);
                    return;
                }
                for (int i = 0; i < value.size(); i++) {
                    element.of(value.get(i), path + "[" + i + "]", problems);
                }
            };
        }

        /** An object with strings, under any names. */
        static SpecField texts() {
            return (value, path, problems) -> {
                if (!value.isObject()) {
                    problems.add(path + " must be an object, not " + value);
                    return;
                }
                value.properties().forEach(e -> text().of(e.getValue(), path + "." + e.getKey(), problems));
            };
        }

        /** A list in which no two elements have the same string in a field. */
        static SpecField unique(String field) {
            return (value, path, problems) -> {
                Set<String> seen = new HashSet<>();
                for (JsonNode element : value) {
                    String text = element.path(field).asText();
                    if (!seen.add(text)) {
                        problems.add("%s has \"%s\" twice as %s".formatted(path, text, field));
                    }
                }
            };
        }

        /** An object of these fields and no others. */
        static Fields object() {
            return new Fields(Map.of(), Set.of());
        }

        /** An object of known fields; a field that is null counts as left out. */
        record Fields(Map<String, SpecField> known, Set<String> required) implements SpecField {

            Fields needs(String name, SpecField check) {
                Set<String> more = new HashSet<>(required);
                more.add(name);
                return new Fields(may(name, check).known, more);
            }

            Fields may(String name, SpecField check) {
                Map<String, SpecField> more = new LinkedHashMap<>(known);
                more.put(name, check);
                return new Fields(more, required);
            }

            @Override
            public void of(JsonNode value, String path, List<String> problems) {
                if (!value.isObject()) {
                    problems.add(path + " must be an object, not " + value);
                    return;
                }
                value.properties().forEach(field -> field(field.getKey(), field.getValue(), path, problems));
                required.stream()
                        .filter(name -> value.path(name).isMissingNode()
                                || value.path(name).isNull())
                        .sorted()
                        .forEach(name -> problems.add(path + " lacks the field " + name));
            }

            private void field(String name, JsonNode value, String path, List<String> problems) {
                SpecField check = known.get(name);
                if (check == null) {
                    problems.add("%s has the unknown field \"%s\"".formatted(path, name));
                } else if (!value.isNull()) {
                    check.of(value, path.isEmpty() ? name : path + "." + name, problems);
                }
            }
        }
    }
}
