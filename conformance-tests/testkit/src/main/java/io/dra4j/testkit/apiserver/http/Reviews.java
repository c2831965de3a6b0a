// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/**
 * Answers reviews of access, which are not stored: each request is allowed here, and its user is
 * unknown.
 */
final class Reviews {

    private static final Map<String, String> KINDS = Map.of(
            "authorization.k8s.io/v1/selfsubjectaccessreviews", "SelfSubjectAccessReview",
            "authorization.k8s.io/v1/subjectaccessreviews", "SubjectAccessReview",
            "authentication.k8s.io/v1/selfsubjectreviews", "SelfSubjectReview");

    private Reviews() {}

    /** Returns whether a path, without its first part, is one of reviews. */
    static boolean areAt(List<String> path) {
        return KINDS.containsKey(String.join("/", path));
    }

    static void handle(Exchange exchange, List<String> path) {
        exchange.requirePost();
        String version = path.get(0) + "/" + path.get(1);
        String kind = KINDS.getOrDefault(String.join("/", path), "");
        ObjectNode review = exchange.objectBody(version, kind);
        ObjectNode status = review.putObject("status");
        if (kind.equals("SelfSubjectReview")) {
            ObjectNode user = status.putObject("userInfo").put("username", "system:anonymous");
            user.putArray("groups").add("system:unauthenticated");
        } else {
            status.put("allowed", true);
        }
        exchange.respond(201, review);
    }
}
