// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.doctor.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.CheckResult;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.doctor.Severity;
import io.dra4j.doctor.cluster.ClusterApi.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Checks each verb that a driver's account needs.
 *
 * @param account {@code NAMESPACE:NAME} of a ServiceAccount; empty for the account of this program
 */
record Rights(ClusterView cluster, String account) implements Check {

    private static final String GROUP = "authorization.k8s.io/v1";
    private static final String SERVICE_ACCOUNT = "system:serviceaccount:";

    @Override
    public String id() {
        return "rbac";
    }

    @Override
    public CheckResult look() {
        String user = account.isEmpty() ? self() : SERVICE_ACCOUNT + account;
        List<Right> rights = Right.ofAllDrivers();
        List<Finding> findings = new ArrayList<>();
        for (Right right : rights) {
            if (!isAllowed(right, user)) {
                findings.add(finding(right, user));
            }
        }
        return new CheckResult("%s has all %d rights".formatted(user, rights.size()), findings);
    }

    private String self() {
        Answer answer = cluster.create(
                "apis/authentication.k8s.io/v1/selfsubjectreviews",
                object("authentication.k8s.io/v1", "SelfSubjectReview"));
        String user = answer.body().at("/status/userInfo/username").asText();
        return user.isEmpty() ? "this account" : user;
    }

    private boolean isAllowed(Right right, String user) {
        boolean self = account.isEmpty();
        ObjectNode review = object(GROUP, self ? "SelfSubjectAccessReview" : "SubjectAccessReview");
        ObjectNode spec = review.putObject("spec");
        if (!self) {
            spec.put("user", user);
            spec.putArray("groups")
                    .add("system:serviceaccounts")
                    .add("system:serviceaccounts:" + account.split(":")[0])
                    .add("system:authenticated");
        }
        String[] parts = right.resource().split("/", 2);
        ObjectNode attributes = spec.putObject("resourceAttributes")
                .put("group", right.group())
                .put("resource", parts[0])
                .put("verb", right.verb());
        if (parts.length > 1) {
            attributes.put("subresource", parts[1]);
        }
        if (!right.namespace().isEmpty()) {
            attributes.put("namespace", right.namespace());
        }
        return isAllowed(self ? "selfsubjectaccessreviews" : "subjectaccessreviews", review);
    }

    private boolean isAllowed(String resource, ObjectNode review) {
        Answer answer = cluster.create("apis/" + GROUP + "/" + resource, review);
        if (answer.status() / 100 != 2) {
            throw new NotCheckedException("the server answered %d to a review of access: %s"
                    .formatted(answer.status(), answer.body().path("message").asText("no message")));
        }
        return answer.body().at("/status/allowed").asBoolean();
    }

    private static ObjectNode object(String version, String kind) {
        return JsonNodeFactory.instance.objectNode().put("apiVersion", version).put("kind", kind);
    }

    private Finding finding(Right right, String user) {
        String role =
                "dra-driver-%s-%s".formatted(right.verb(), right.resource().replace('/', '-'));
        String binding = user.startsWith(SERVICE_ACCOUNT)
                ? "--serviceaccount=" + user.substring(SERVICE_ACCOUNT.length())
                : "--serviceaccount=NAMESPACE:NAME";
        String where = right.namespace().isEmpty() ? "" : " --namespace " + right.namespace();
        String kind = right.namespace().isEmpty() ? "cluster" : "";
        return new Finding(
                id(),
                right.optional() ? Severity.WARNING : Severity.ERROR,
                user,
                "it may not %s %s".formatted(right.verb(), right.name()),
                right.without(),
                List.of(
                        "kubectl create %srole %s --verb=%s --resource=%s%s"
                                .formatted(kind, role, right.verb(), right.name(), where),
                        "kubectl create %srolebinding %s --%srole=%s %s%s"
                                .formatted(kind, role, kind, role, binding, where)));
    }

    /**
     * A verb that every driver needs, from the file that the charts generate their roles from.
     *
     * @param group the API group; empty for the core group
     * @param resource the resource, with its subresource
     * @param namespace the namespace in which it applies; empty for all namespaces
     * @param optional whether the driver publishes and prepares without it
     * @param without what does not work without it
     */
    private record Right(
            String group, String resource, String verb, String namespace, boolean optional, String without) {

        private static final List<String> PARTS = List.of("always", "events");

        /** The rights that all drivers need, without those of optional parts. */
        static List<Right> ofAllDrivers() {
            List<Right> rights = new ArrayList<>();
            for (JsonNode one : file()) {
                for (JsonNode verb : one.path("verbs")) {
                    if (PARTS.contains(verb.path("for").asText())) {
                        rights.add(new Right(
                                one.path("apiGroup").asText(),
                                one.path("resource").asText(),
                                verb.path("verb").asText(),
                                one.path("namespace").asText(),
                                verb.path("optional").asBoolean(),
                                verb.path("without").asText()));
                    }
                }
            }
            return rights;
        }

        private static JsonNode file() {
            try (InputStream file = Right.class.getResourceAsStream("rights.yaml")) {
                return new YAMLMapper().readTree(Objects.requireNonNull(file, "rights.yaml"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** The resource as kubectl names it. */
        String name() {
            return group.isEmpty() ? resource : resource + "." + group;
        }
    }
}
