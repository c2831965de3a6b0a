// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.runtime.internal.admission.AdmissionRule.ClaimRule;
import io.dra4j.runtime.internal.admission.AdmissionRule.PodRule;
import io.dra4j.runtime.internal.admission.AdmissionRule.Problem;
import io.dra4j.runtime.internal.claim.allocation.ConfigCheck;
import io.dra4j.runtime.internal.cluster.Fields;
import io.dra4j.runtime.internal.http.HttpPages;
import io.dra4j.runtime.internal.http.HttpPages.HttpAnswer;
import io.dra4j.runtime.internal.http.HttpPages.Page;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.tls.ServerCertificate;
import java.io.IOException;
import java.io.Serial;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The pages of a webhook: for reviews of claims and of pods, and for probes. */
public final class AdmissionService {

    private static final Logger LOG = LoggerFactory.getLogger(AdmissionService.class);
    private static final String CLAIMS = "/validate-resource-claim-parameters";
    private static final String PODS = "/validate-pods";
    private static final Page PROBE = (accept, body) -> HttpAnswer.text(200, "ok");

    /** A review has the new and the old object, of at most 3 MiB each, and little else. */
    private static final int LONGEST_REVIEW = 7 * 1024 * 1024;

    private AdmissionService() {}

    /**
     * Disables name resolution in this process, which an HTTPS-only server does not need: the JDK's server looks up the
     * name of each client, which takes seconds if no name server answers. Has an effect only before the first use of an
     * address.
     */
    public static void lookUpNoNames() {
        System.getProperties().putIfAbsent("jdk.net.hosts.file", "/dev/null");
    }

    /**
     * Starts serving.
     *
     * @param extendedResources the resources that pods must not request
     * @throws IOException if the address is in use, or not this machine's
     */
    public static HttpPages start(
            InetSocketAddress address,
            ServerCertificate certificate,
            String driver,
            List<ConfigType<?>> configTypes,
            Set<String> extendedResources)
            throws IOException {
        HttpPages pages = HttpPages.bind(address, certificate.context())
                .get("/readyz", PROBE)
                .get("/healthz", PROBE);
        ConfigCheck check = new ConfigCheck(driver, configTypes);
        pages.postJson(CLAIMS, LONGEST_REVIEW, new ReviewPage(new ClaimRule(check)));
        if (!extendedResources.isEmpty()) {
            pages.postJson(PODS, LONGEST_REVIEW, new ReviewPage(new PodRule(extendedResources)));
        }
        pages.start();
        LOG.atInfo().addKeyValue(LogField.ADDRESS, pages.address()).log("Serving admission reviews over HTTPS");
        return pages;
    }

    /** Answers reviews by a rule. */
    record ReviewPage(AdmissionRule rule, Fields fields) implements Page {

        private static final Logger LOG = LoggerFactory.getLogger(ReviewPage.class);

        /** The number of configurations that a valid claim may have; it bounds the answer. */
        private static final int MOST_PROBLEMS = 32;

        ReviewPage(AdmissionRule rule) {
            this(rule, Review.fields(rule.fields()));
        }

        @Override
        public HttpAnswer answer(String accept, byte[] document) {
            try {
                return HttpAnswer.of(200, "application/json", answer(Review.read(document, fields)));
            } catch (BadReviewException e) {
                LOG.atInfo().addKeyValue(LogField.REASON, e.getMessage()).log("Review refused");
                return HttpAnswer.text(400, String.valueOf(e.getMessage()));
            }
        }

        private byte[] answer(Review review) throws BadReviewException {
            String group = review.type("group");
            String version = review.type("version");
            String kind = review.type("kind");
            if (!rule.isFor(group, version, kind)) {
                throw new BadReviewException("the review is of the kind \"%s\" of \"%s/%s\"; this page is for %s"
                        .formatted(kind, group, version, rule.kinds()));
            }
            if (!review.isChecked() || review.leavesSpec()) {
                return review.allowed();
            }
            List<Problem> problems = rule.problems(kind, review.object()).stream()
                    .limit(MOST_PROBLEMS)
                    .toList();
            if (problems.isEmpty()) {
                return review.allowed();
            }
            LOG.atInfo()
                    .addKeyValue(LogField.OBJECT, review.name())
                    .addKeyValue(LogField.REASON, problems.get(0).message())
                    .log("Object refused");
            return review.refused(problems);
        }

        /** An {@code AdmissionReview} of {@code admission.k8s.io/v1}: its request, and answers to it. */
        private record Review(JsonNode request) {

            private static final ObjectMapper JSON = new JsonMapper();
            private static final String API_VERSION = "admission.k8s.io/v1";
            private static final String KIND = "AdmissionReview";
            private static final List<String> FIELDS = List.of(
                    "apiVersion",
                    "kind",
                    "request.uid",
                    "request.kind",
                    "request.operation",
                    "request.namespace",
                    "request.name");
            private static final Set<String> CHECKED = Set.of("CREATE", "UPDATE");
            private static final Set<String> NOT_CHECKED = Set.of("DELETE", "CONNECT");

            /** Returns those of a review, given those of its objects. */
            static Fields fields(Set<String> ofObject) {
                Set<String> all = new HashSet<>(FIELDS);
                for (String field : ofObject) {
                    all.add("request.object." + field);
                    all.add("request.oldObject." + field);
                }
                return new Fields(all);
            }

            /**
             * Reads some fields of a review.
             *
             * @throws BadReviewException if it is not a review, or lacks what an answer needs
             */
            static Review read(byte[] document, Fields fields) throws BadReviewException {
                JsonNode review = tree(document, fields);
                String type = text(review, "apiVersion") + " " + text(review, "kind");
                if (!type.equals(API_VERSION + " " + KIND)) {
                    throw new BadReviewException(
                            "the document is a \"%s\", not a \"%s %s\"".formatted(type.strip(), API_VERSION, KIND));
                }
                Review read = new Review(review.path("request"));
                if (read.uid().isEmpty()) {
                    throw new BadReviewException("the review has no request.uid");
                }
                String operation = text(read.request, "operation");
                if (!CHECKED.contains(operation) && !NOT_CHECKED.contains(operation)) {
                    throw new BadReviewException("the review has the unknown request.operation \"" + operation + "\"");
                }
                if (read.isChecked() && !read.object().isObject()) {
                    throw new BadReviewException("the review has no request.object");
                }
                return read;
            }

            private static JsonNode tree(byte[] document, Fields fields) throws BadReviewException {
                try {
                    return JSON.readTree(fields.in(document));
                } catch (JsonProcessingException e) {
                    throw new BadReviewException("the document is not JSON: " + e.getOriginalMessage());
                } catch (IOException e) {
                    throw new BadReviewException("the document is not in an encoding of JSON: " + e);
                }
            }

            private static String text(JsonNode object, String field) {
                JsonNode value = object.path(field);
                return value.isTextual() ? value.asText() : "";
            }

            private String uid() {
                return text(request, "uid");
            }

            /** Returns a part of {@code request.kind}: group, version or kind. */
            String type(String part) {
                return text(request.path("kind"), part);
            }

            JsonNode object() {
                return request.path("object");
            }

            /** Returns whether the operation writes an object; others pass. */
            boolean isChecked() {
                return CHECKED.contains(text(request, "operation"));
            }

            /**
             * Returns whether the object's spec equals the stored one: the webhook must not keep an older object from
             * losing its finalizers. Both have only the fields that the rule reads.
             */
            boolean leavesSpec() {
                JsonNode before = request.path("oldObject").path("spec");
                return !before.isMissingNode() && before.equals(object().path("spec"));
            }

            String name() {
                return "%s %s/%s".formatted(type("kind"), text(request, "namespace"), text(request, "name"));
            }

            byte[] allowed() {
                ObjectNode response = JSON.createObjectNode();
                response.put("uid", uid()).put("allowed", true);
                return answer(response);
            }

            /** Returns an answer that refuses the object, in the form of an API server's own refusals. */
            byte[] refused(List<Problem> problems) {
                ObjectNode response = JSON.createObjectNode();
                response.put("uid", uid()).put("allowed", false);
                ObjectNode status = response.putObject("status");
                status.put("status", "Failure").put("code", 422).put("reason", "Invalid");
                status.put("message", message(problems));
                ObjectNode details = status.putObject("details");
                details.put("group", type("group")).put("kind", type("kind"));
                details.put("name", text(request, "name"));
                for (Problem problem : problems) {
                    details.withArray("/causes")
                            .addObject()
                            .put("reason", "FieldValueInvalid")
                            .put("message", problem.message())
                            .put("field", problem.field());
                }
                return answer(response);
            }

            private static String message(List<Problem> problems) {
                return String.join(
                        "; ",
                        problems.stream()
                                .map(problem -> problem.field() + ": " + problem.message())
                                .toList());
            }

            private static byte[] answer(ObjectNode response) {
                ObjectNode review = JSON.createObjectNode();
                review.put("apiVersion", API_VERSION).put("kind", KIND).set("response", response);
                try {
                    return JSON.writeValueAsBytes(review);
                } catch (JsonProcessingException e) {
                    throw new IllegalStateException("A JSON tree can always be written", e);
                }
            }
        }

        /** Carries the reason why a document is not a review that can be answered. */
        private static final class BadReviewException extends Exception {

            @Serial
            private static final long serialVersionUID = 1L;

            BadReviewException(String message) {
                super(message);
            }
        }
    }
}
