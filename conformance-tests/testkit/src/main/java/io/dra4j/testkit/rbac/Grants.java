// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.testkit.settings.SettingsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The rules that manifests bind to one ServiceAccount. */
final class Grants {

    private static final List<String> DISCOVERY_PATHS = List.of(
            "/api /api/* /apis /apis/* /healthz /livez /readyz /openapi /openapi/* /version /version/".split(" "));

    /** The rights that Kubernetes grants every authenticated user: discovery and health. */
    private static final PolicyRule DISCOVERY =
            new PolicyRule(List.of("get"), List.of(), List.of(), List.of(), DISCOVERY_PATHS);

    private static final PolicyRule EVERYTHING =
            new PolicyRule(List.of("*"), List.of("*"), List.of("*"), List.of(), List.of("*"));

    /**
     * A rule and where it holds.
     *
     * @param namespace empty for everywhere
     */
    private record Grant(String namespace, PolicyRule rule) {}

    private final String namespace;
    private final String name;
    private final List<JsonNode> manifests;
    private final List<Grant> grants = new ArrayList<>();
    private final List<String> missingRoles = new ArrayList<>();

    /**
     * Collects them.
     *
     * @throws SettingsException if the manifests do not have the ServiceAccount
     */
    Grants(String namespace, String name, List<JsonNode> manifests) {
        this.namespace = namespace;
        this.name = name;
        this.manifests = manifests;
        requireServiceAccount();
        grants.add(new Grant("", DISCOVERY));
        of("ClusterRoleBinding").filter(this::isBound).forEach(one -> grant(one, ""));
        of("RoleBinding").filter(this::isBound).forEach(one -> grant(one, namespaceOf(one)));
    }

    boolean allow(ApiAction action) {
        return grants.stream()
                .filter(grant -> List.of("", action.namespace()).contains(grant.namespace))
                .anyMatch(grant -> grant.rule.allows(action));
    }

    /** Roles that are bound, and are in none of the manifests. */
    List<String> missingRoles() {
        return List.copyOf(missingRoles);
    }

    private void requireServiceAccount() {
        List<String> known = of("ServiceAccount")
                .map(one -> namespaceOf(one) + "/" + one.at("/metadata/name").asText())
                .toList();
        if (!known.contains(namespace + "/" + name)) {
            String found = known.isEmpty() ? "none" : String.join(", ", known);
            throw new SettingsException(
                    "apiServer.serviceAccount: %s/%s is not in the %d manifests of apiServer.manifests; the ServiceAccounts there: %s"
                            .formatted(namespace, name, manifests.size(), found));
        }
    }

    private Stream<JsonNode> of(String kind) {
        return manifests.stream().filter(one -> one.path("kind").asText().equals(kind));
    }

    /** A manifest that names no namespace goes to the one into which the driver is installed. */
    private String namespaceOf(JsonNode manifest) {
        return manifest.at("/metadata/namespace").asText(namespace);
    }

    private boolean isBound(JsonNode binding) {
        return binding.path("subjects").valueStream().anyMatch(subject -> isAccount(subject, namespaceOf(binding)));
    }

    private boolean isAccount(JsonNode subject, String bindingNamespace) {
        String all = "system:serviceaccounts";
        Set<String> groups = Set.of("system:authenticated", all, all + ":" + namespace);
        String subjects = subject.path("name").asText();
        String where = subject.path("namespace").asText(bindingNamespace);
        return switch (subject.path("kind").asText()) {
            case "ServiceAccount" -> subjects.equals(name) && where.equals(namespace);
            case "Group" -> groups.contains(subjects);
            case "User" -> subjects.equals("system:serviceaccount:" + namespace + ":" + name);
            default -> false;
        };
    }

    private void grant(JsonNode binding, String where) {
        String kind = binding.at("/roleRef/kind").asText();
        String role = binding.at("/roleRef/name").asText();
        List<JsonNode> found = of(kind).filter(
                        one -> one.at("/metadata/name").asText().equals(role))
                .filter(one -> kind.equals("ClusterRole") || namespaceOf(one).equals(where))
                .toList();
        if (found.isEmpty() && kind.equals("ClusterRole") && role.equals("cluster-admin")) {
            grants.add(new Grant(where, EVERYTHING));
        } else if (found.isEmpty()) {
            missingRoles.add(kind + " " + role);
        }
        for (JsonNode one : found) {
            one.path("rules").forEach(rule -> grants.add(new Grant(where, PolicyRule.of(rule))));
        }
    }

    /** One rule of a Role or a ClusterRole. */
    private record PolicyRule(
            List<String> verbs, List<String> groups, List<String> resources, List<String> names, List<String> paths) {

        private static final String ALL = "*";

        static PolicyRule of(JsonNode rule) {
            return new PolicyRule(
                    texts(rule.path("verbs")),
                    texts(rule.path("apiGroups")),
                    texts(rule.path("resources")),
                    texts(rule.path("resourceNames")),
                    texts(rule.path("nonResourceURLs")));
        }

        private static List<String> texts(JsonNode array) {
            return array.valueStream().map(JsonNode::asText).toList();
        }

        boolean allows(ApiAction action) {
            return has(verbs, action.verb())
                    && (action.isResource() ? allowsResource(action) : allowsPath(action.path()));
        }

        private boolean allowsResource(ApiAction action) {
            String subresource = action.resource().substring(action.plural().length());
            boolean everyOne = !subresource.isEmpty() && resources.contains(ALL + subresource);
            return has(groups, action.group())
                    && (everyOne || has(resources, action.resource()))
                    && (names.isEmpty() || names.contains(action.name()));
        }

        private boolean allowsPath(String path) {
            return paths.stream().anyMatch(one -> one.equals(path) || isBelow(path, one));
        }

        private static boolean isBelow(String path, String prefix) {
            return prefix.endsWith(ALL) && path.startsWith(prefix.substring(0, prefix.length() - 1));
        }

        private static boolean has(List<String> values, String wanted) {
            return values.contains(ALL) || values.contains(wanted);
        }
    }
}
