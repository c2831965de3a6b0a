// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cdi;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;

/** Checks a value of a spec, and adds a line for each problem. */
@FunctionalInterface
interface SpecField {

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

    /** A boolean. */
    static SpecField bool() {
        return (value, path, problems) -> {
            if (!value.isBoolean()) {
                problems.add(path + " must be true or false, not " + value);
            }
        };
    }

    /** A list of such values. */
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
                    .filter(name ->
                            value.path(name).isMissingNode() || value.path(name).isNull())
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
