// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.rbac;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.dra4j.testkit.settings.ManifestFiles;
import io.dra4j.testkit.settings.SettingsException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Evaluates RBAC and admission policies for the requests of one ServiceAccount, and remembers what
 * they refused; thread-safe.
 *
 * <p>As Kubernetes does: what no rule allows is refused. In addition to the manifests, the rules that every user has
 * for discovery and for reviews of the user's own rights apply. Aggregated ClusterRoles are read by their own rules.
 */
public final class ServiceAccountAccess {

    private static final String NODE_OF_TOKEN = "authentication.kubernetes.io/node-name";
    private static final String STATUS = "resourceclaims/status";
    private static final Pattern RELEASE = Pattern.compile("^v?1\\.(\\d+)");
    private static final Set<String> WRITES = Set.of("update", "patch");

    /** The minor release from which on a driver's entries of a status need a separate verb. */
    private static final int GRANULAR_STATUS = 36;

    private final String account;
    private final String user;
    private final String driver;
    private volatile int minor; // of the API server, as far as known
    private final Grants grants;
    private final Admission admission;
    private final Map<String, Missing> denied = new TreeMap<>(); // guarded by this
    private final Map<String, Missing> missing = new TreeMap<>(); // guarded by this

    /** A rule that is missing, the first refusal for it, and how many there were. */
    private record Missing(Refusal example, int count) {
        String requests() {
            return count == 1 ? "a request" : count + " requests";
        }
    }

    /**
     * Reads the manifests that grant the rights.
     *
     * @param account the ServiceAccount, {@code namespace/name}
     * @param places files and folders with that ServiceAccount, its roles and their bindings
     * @param driver the driver's name, for the verbs of its own entries in a claim's status
     * @param release the API server's release, for example {@code 1.36}
     * @throws io.dra4j.testkit.settings.SettingsException if the manifests cannot be read, or do
     *     not have the ServiceAccount
     */
    public ServiceAccountAccess(String account, List<String> places, String driver, String release) {
        this.account = account;
        this.driver = driver;
        String[] parts = account.split("/");
        user = "system:serviceaccount:" + parts[0] + ":" + parts[1];
        minor = Integer.parseInt(release.split("\\.")[1]);
        List<JsonNode> manifests = ManifestFiles.read("apiServer.manifests", places);
        grants = new Grants(parts[0], parts[1], manifests);
        admission = new Admission(manifests);
    }

    /** The release of a real API server, which replaces the one in the settings. */
    public void serverIs(String version) {
        Matcher release = RELEASE.matcher(version);
        if (release.find()) {
            minor = Integer.parseInt(release.group(1));
        }
    }

    /**
     * Evaluates a request.
     *
     * @param path as it was sent, without the query
     * @param query the decoded parameters
     * @param node the node of the driver's pod, which its token names; empty if it has none
     * @param before reads the current object, or the list to delete; a missing node if it does not exist
     * @param after tries a write, and returns the object that it makes; a missing node if it fails
     * @return empty if it is allowed
     */
    public Optional<Refusal> refusal(
            String method,
            String path,
            Map<String, String> query,
            String node,
            Supplier<JsonNode> before,
            Supplier<JsonNode> after) {
        ApiAction action = ApiAction.of(method, path, query);
        if (!grants.allow(action)) {
            return Optional.of(refused(action, action));
        }
        return lacksDriverEntry(action)
                .map(lacking -> refused(action, lacking))
                .or(() -> action.isResource()
                        ? admission
                                .refusal(action, admissionRequest(action, query, node), before, after)
                                .map(this::denied)
                        : Optional.empty());
    }

    /** The fields of an AdmissionRequest that are known before its object is; an empty field is absent. */
    private Map<String, Object> admissionRequest(ApiAction action, Map<String, String> query, String node) {
        Map<String, Object> info =
                new HashMap<>(Map.of("username", user, "groups", Grants.groups(account.split("/")[0])));
        if (!node.isEmpty()) {
            info.put("extra", Map.of(NODE_OF_TOKEN, List.of(node)));
        }
        Map<String, String> resource =
                Map.of("group", action.group(), "version", action.version(), "resource", action.plural());
        Map<String, Object> request = new HashMap<>(Map.of("userInfo", info, "resource", resource));
        request.put("subResource", action.subresource());
        request.put("name", action.name());
        request.put("namespace", action.namespace());
        request.put("dryRun", query.containsKey("dryRun"));
        request.values().removeIf(""::equals);
        return request;
    }

    private synchronized Refusal denied(Refusal refusal) {
        count(denied, refusal.message().replaceFirst(".*?is forbidden: ", ""), refusal);
        return refusal;
    }

    private static void count(Map<String, Missing> found, String what, Refusal refusal) {
        found.merge(what, new Missing(refusal, 1), (known, one) -> new Missing(known.example, known.count + 1));
    }

    /** The separate verb with which a driver writes its entries into a claim's status. */
    private Optional<ApiAction> lacksDriverEntry(ApiAction action) {
        if (minor < GRANULAR_STATUS || !action.resource().equals(STATUS) || !WRITES.contains(action.verb())) {
            return Optional.empty();
        }
        ApiAction own = action.with("associated-node:" + action.verb(), "resourceclaims/driver", driver);
        ApiAction any = action.with("arbitrary-node:" + action.verb(), "resourceclaims/driver", driver);
        return grants.allow(own) || grants.allow(any) ? Optional.empty() : Optional.of(own);
    }

    private synchronized Refusal refused(ApiAction action, ApiAction lacking) {
        Refusal refusal = Refusal.lacking(action, lacking, user);
        count(missing, rule(lacking), refusal);
        return refusal;
    }

    private static String rule(ApiAction action) {
        return action.isResource()
                ? "{apiGroups: [\"%s\"], resources: [\"%s\"], verbs: [\"%s\"]}"
                        .formatted(action.group(), action.resource(), action.verb())
                : "{nonResourceURLs: [\"%s\"], verbs: [\"%s\"]}".formatted(action.path(), action.verb());
    }

    /** The notes for the report: a sentence for each missing rule. */
    public synchronized List<String> notes() {
        List<String> notes = new ArrayList<>();
        for (String role : grants.missingRoles()) {
            notes.add(
                    "RBAC: %s is bound to the ServiceAccount %s but is in none of the manifests, so it grants nothing here."
                            .formatted(role, account));
        }
        missing.forEach((rule, found) -> notes.add(note(rule, found)));
        denied.forEach((what, found) -> notes.add("Admission: the API server refused %s of the driver (%d): %s"
                .formatted(found.requests(), found.example.code(), what)));
        notes.addAll(admission.notes());
        if (notes.isEmpty()) {
            notes.add("RBAC: the API server refused no request of the ServiceAccount %s.".formatted(account));
        }
        return notes;
    }

    private String note(String rule, Missing found) {
        return "RBAC: the API server refused %s of the driver (%d): %s. If the driver needs that, add %s to a ClusterRole of the ServiceAccount %s."
                .formatted(found.requests(), found.example.code(), found.example.message(), rule, account);
    }

    /** The admission policies of manifests whose bindings deny what they refuse; thread-safe. */
    private static final class Admission {

        private static final Map<String, String> OPERATIONS = Map.of(
                "create",
                "CREATE",
                "update",
                "UPDATE",
                "patch",
                "UPDATE",
                "delete",
                "DELETE",
                "deletecollection",
                "DELETE");

        private final List<AdmissionPolicy> policies = new ArrayList<>();
        private final Set<String> notes = new ConcurrentSkipListSet<>();

        Admission(List<JsonNode> manifests) {
            of(manifests, "ValidatingAdmissionPolicyBinding")
                    .filter(binding -> binding.at("/spec/validationActions")
                            .valueStream()
                            .anyMatch(action -> action.asText().equals("Deny")))
                    .forEach(binding -> of(manifests, "ValidatingAdmissionPolicy")
                            .filter(policy -> policy.at("/metadata/name").equals(binding.at("/spec/policyName")))
                            .map(policy -> new AdmissionPolicy(policy, binding))
                            .forEach(this::add));
        }

        private static Stream<JsonNode> of(List<JsonNode> manifests, String kind) {
            return manifests.stream().filter(one -> one.path("kind").asText().equals(kind));
        }

        private void add(AdmissionPolicy policy) {
            if (policy.isUnclear()) {
                notes.add(unclear(policy, "it has parameters or selectors"));
            } else {
                policies.add(policy);
            }
        }

        private static String unclear(AdmissionPolicy policy, String why) {
            return "Admission: the ValidatingAdmissionPolicy %s was not evaluated: %s.".formatted(policy.name(), why);
        }

        /** Remarks on policies that could not be evaluated, a sentence each. */
        Set<String> notes() {
            return notes;
        }

        /** Evaluates a write, whose objects are read only if a policy is for it. */
        Optional<Refusal> refusal(
                ApiAction action, Map<String, Object> request, Supplier<JsonNode> before, Supplier<JsonNode> after) {
            String operation = OPERATIONS.getOrDefault(action.verb(), "");
            boolean updates = operation.equals("UPDATE");
            if (operation.isEmpty()
                    || policies.stream()
                            .noneMatch(
                                    one -> one.isFor(action, operation) || (updates && one.isFor(action, "CREATE")))) {
                return Optional.empty();
            }
            boolean deletes = operation.equals("DELETE");
            JsonNode now = operation.equals("CREATE") ? MissingNode.getInstance() : before.get();
            JsonNode then = deletes ? MissingNode.getInstance() : after.get();
            String done = updates && now.isMissingNode() ? "CREATE" : operation;
            Stream<JsonNode> each =
                    action.verb().equals("deletecollection") ? now.path("items").valueStream() : Stream.of(now);
            return each.filter(old -> !(deletes ? old : then).isMissingNode()) // the API server refuses others
                    .flatMap(old -> refusals(action, done, request, then, old))
                    .findFirst();
        }

        private Stream<Refusal> refusals(
                ApiAction action, String operation, Map<String, Object> request, JsonNode after, JsonNode before) {
            JsonNode object = after.isMissingNode() ? before : after;
            return policies.stream()
                    .filter(policy -> policy.isFor(action, operation))
                    .flatMap(policy -> denied(policy, operation, request, after, before).stream()
                            .map(denied -> Refusal.byPolicy(action, policy, denied, object)));
        }

        private Optional<AdmissionPolicy.Denied> denied(
                AdmissionPolicy policy,
                String operation,
                Map<String, Object> request,
                JsonNode after,
                JsonNode before) {
            try {
                return policy.denied(operation, request, after, before);
            } catch (IllegalStateException e) {
                notes.add(unclear(policy, String.valueOf(e.getMessage()).replace('\n', ' ')));
                return Optional.empty();
            }
        }
    }

    /** The rules that manifests bind to one ServiceAccount. */
    private static final class Grants {

        private static final List<String> DISCOVERY_PATHS = List.of(
                "/api /api/* /apis /apis/* /healthz /livez /readyz /openapi /openapi/* /version /version/".split(" "));

        /** The rights that Kubernetes grants every authenticated user: discovery and health. */
        private static final PolicyRule DISCOVERY =
                new PolicyRule(List.of("get"), List.of(), List.of(), List.of(), DISCOVERY_PATHS);

        /** The reviews of its own rights that Kubernetes grants every authenticated user (system:basic-user). */
        private static final PolicyRule SELF_REVIEWS = new PolicyRule(
                List.of("create"),
                List.of("authorization.k8s.io", "authentication.k8s.io"),
                List.of("selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"),
                List.of(),
                List.of());

        private static final PolicyRule EVERYTHING =
                new PolicyRule(List.of("*"), List.of("*"), List.of("*"), List.of(), List.of("*"));

        /** A rule and its namespace; empty for everywhere. */
        private record Grant(String namespace, PolicyRule rule) {}

        private final String namespace;
        private final String name;
        private final List<JsonNode> manifests;
        private final List<Grant> grants = new ArrayList<>();
        private final List<String> missingRoles = new ArrayList<>();

        /** Collects them; SettingsException if the manifests do not have the ServiceAccount. */
        Grants(String namespace, String name, List<JsonNode> manifests) {
            this.namespace = namespace;
            this.name = name;
            this.manifests = manifests;
            requireServiceAccount();
            grants.add(new Grant("", DISCOVERY));
            grants.add(new Grant("", SELF_REVIEWS));
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
                    .map(one ->
                            namespaceOf(one) + "/" + one.at("/metadata/name").asText())
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

        /** A manifest without a namespace goes into the one in which the driver is installed. */
        private String namespaceOf(JsonNode manifest) {
            return manifest.at("/metadata/namespace").asText(namespace);
        }

        private boolean isBound(JsonNode binding) {
            return binding.path("subjects").valueStream().anyMatch(subject -> isAccount(subject, namespaceOf(binding)));
        }

        /** The groups of all ServiceAccounts of a namespace. */
        static List<String> groups(String namespace) {
            String all = "system:serviceaccounts";
            return List.of(all, all + ":" + namespace, "system:authenticated");
        }

        private boolean isAccount(JsonNode subject, String bindingNamespace) {
            String subjects = subject.path("name").asText();
            String where = subject.path("namespace").asText(bindingNamespace);
            return switch (subject.path("kind").asText()) {
                case "ServiceAccount" -> subjects.equals(name) && where.equals(namespace);
                case "Group" -> groups(namespace).contains(subjects);
                case "User" -> subjects.equals("system:serviceaccount:" + namespace + ":" + name);
                default -> false;
            };
        }

        private void grant(JsonNode binding, String where) {
            String kind = binding.at("/roleRef/kind").asText();
            String role = binding.at("/roleRef/name").asText();
            List<JsonNode> found = of(kind).filter(
                            one -> one.at("/metadata/name").asText().equals(role))
                    .filter(one ->
                            kind.equals("ClusterRole") || namespaceOf(one).equals(where))
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
                List<String> verbs,
                List<String> groups,
                List<String> resources,
                List<String> names,
                List<String> paths) {

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
                String subresource = action.subresource();
                boolean everyOne = !subresource.isEmpty() && resources.contains(ALL + "/" + subresource);
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
}
