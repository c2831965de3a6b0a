// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

import java.util.List;
import java.util.Objects;

/**
 * Chooses nodes by their labels; all requirements must hold.
 *
 * @param requirements the requirements, at least one
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/">
 *     ResourceSlice, nodeSelector (one term)</a>
 */
public record NodeSelector(List<Requirement> requirements) {

    /** Copies the list. */
    public NodeSelector {
        requirements = List.copyOf(Objects.requireNonNull(requirements, "requirements"));
    }

    /**
     * Returns the selector of the nodes that carry a label with one of the given values.
     *
     * @param label the label's name
     * @param values the values, at least one
     * @return the selector
     */
    public static NodeSelector labelIn(String label, String... values) {
        Objects.requireNonNull(label, "label");
        Objects.requireNonNull(values, "values");
        return new NodeSelector(List.of(new Requirement(label, Operator.IN, List.of(values), Subject.LABEL)));
    }

    /**
     * One requirement.
     *
     * @param key the name of the label or field
     * @param operator how its value is compared
     * @param values what it is compared with; none for {@code EXISTS} and {@code DOES_NOT_EXIST},
     *     one whole number for {@code GREATER_THAN} and {@code LESS_THAN}
     * @param subject whether the key names a label or a field of the node
     */
    public record Requirement(String key, Operator operator, List<String> values, Subject subject) {

        /** Copies the list. */
        public Requirement {
            Objects.requireNonNull(key, "key");
            Objects.requireNonNull(operator, "operator");
            Objects.requireNonNull(subject, "subject");
            values = List.copyOf(Objects.requireNonNull(values, "values"));
        }
    }

    /** The kind of key of a requirement. */
    public enum Subject {
        /** A label of the node. */
        LABEL,
        /** A field of the node; Kubernetes knows {@code metadata.name}. */
        FIELD
    }

    /** The comparison of a requirement. */
    public enum Operator {
        /** The value is one of those given. */
        IN("In"),
        /** The value is none of those given, or the key is absent. */
        NOT_IN("NotIn"),
        /** The key is present. */
        EXISTS("Exists"),
        /** The key is absent. */
        DOES_NOT_EXIST("DoesNotExist"),
        /** The value is a larger number. */
        GREATER_THAN("Gt"),
        /** The value is a smaller number. */
        LESS_THAN("Lt");

        private final String apiName;

        Operator(String apiName) {
            this.apiName = apiName;
        }

        /**
         * Returns the operator's name in the Kubernetes API.
         *
         * @return the name, for instance {@code In}
         */
        public String apiName() {
            return apiName;
        }
    }
}
