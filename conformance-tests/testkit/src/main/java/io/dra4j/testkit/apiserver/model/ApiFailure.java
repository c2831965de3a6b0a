// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.QuotedText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A refused request: becomes a {@code Status} object on the wire. */
public final class ApiFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Says that details are sent although they are empty. */
    private static final ObjectNode NO_DETAILS = JsonTrees.object();

    private static final String UNKNOWN_PATH = "the server could not find the requested resource";

    private final int code;
    private final transient ObjectNode status;

    /** Why a body does not fit its kind; empty for other failures. */
    private final String unfitness;

    private ApiFailure(int code, String reason, String message) {
        this(code, reason, message, JsonTrees.object());
    }

    private ApiFailure(int code, String reason, String message, ObjectNode details) {
        this(code, reason, message, details, "");
    }

    private ApiFailure(int code, String reason, String message, ObjectNode details, String unfitness) {
        super(message);
        this.code = code;
        this.unfitness = unfitness;
        this.status = JsonTrees.object();
        status.put("kind", "Status").put("apiVersion", "v1");
        status.putObject("metadata");
        status.put("status", "Failure").put("message", message);
        if (!reason.isEmpty()) {
            status.put("reason", reason);
        }
        if (details == NO_DETAILS || !details.isEmpty()) {
            status.set("details", details.deepCopy());
        }
        status.put("code", code);
    }

    public int code() {
        return code;
    }

    /** The machine-readable reason, for example {@code Conflict}. */
    public String reason() {
        return status.path("reason").asText();
    }

    public String unfitness() {
        return unfitness;
    }

    public ObjectNode status() {
        return status;
    }

    public static ApiFailure unknownPath() {
        return general(404, "NotFound", UNKNOWN_PATH);
    }

    /** From 1.38, the answer to a path that belongs to no group, or is outside of the API: always JSON (#138219). */
    public static ApiFailure unregisteredPath() {
        return new ApiFailure(404, "NotFound", UNKNOWN_PATH);
    }

    /** A failure of the request itself, regardless of its object. */
    private static ApiFailure general(int code, String reason, String message) {
        return new ApiFailure(code, reason, message, NO_DETAILS);
    }

    /** A failure that the server has no reason for. */
    public static ApiFailure unexplained(String message) {
        return new ApiFailure(500, "", message);
    }

    public static ApiFailure notFound(ResourceKind kind, String name) {
        return new ApiFailure(404, "NotFound", named(kind, name) + " not found", about(kind, name));
    }

    public static ApiFailure alreadyExists(ResourceKind kind, String name) {
        return new ApiFailure(409, "AlreadyExists", named(kind, name) + " already exists", about(kind, name));
    }

    public static ApiFailure conflict(ResourceKind kind, String name, String why) {
        return new ApiFailure(
                409,
                "Conflict",
                "Operation cannot be fulfilled on " + named(kind, name) + ": " + why,
                about(kind, name));
    }

    /** A deletion of an object other than the intended one. */
    public static ApiFailure notMeant(ResourceKind kind, String name, String why) {
        String message =
                "Operation cannot be fulfilled on %s %s: %s".formatted(kind.qualifiedKind(), QuotedText.of(name), why);
        return new ApiFailure(409, "Conflict", message, details(kind, kind.kind(), name));
    }

    /** A field that another manager owns, which messages describe. */
    public record Conflict(String owner, String field) {}

    /** An apply that must not take fields from their owners. */
    public static ApiFailure applyConflicts(List<Conflict> conflicts) {
        ObjectNode details = JsonTrees.object();
        ArrayNode causes = details.putArray("causes");
        for (Conflict conflict : conflicts) {
            causes.addObject()
                    .put("reason", "FieldManagerConflict")
                    .put("message", "conflict with " + conflict.owner)
                    .put("field", conflict.field);
        }
        return new ApiFailure(409, "Conflict", "Apply failed with " + list(conflicts), details);
    }

    private static String list(List<Conflict> conflicts) {
        if (conflicts.size() == 1) {
            Conflict only = conflicts.get(0);
            return "1 conflict: conflict with " + only.owner + ": " + only.field;
        }
        Map<String, List<Conflict>> byOwner = new TreeMap<>();
        conflicts.forEach(one ->
                byOwner.computeIfAbsent(one.owner, owner -> new ArrayList<>()).add(one));
        List<String> lines = new ArrayList<>();
        byOwner.forEach((owner, taken) -> {
            lines.add("conflicts with " + owner + ":");
            taken.forEach(one -> lines.add("- " + one.field));
        });
        return conflicts.size() + " conflicts: " + String.join("\n", lines);
    }

    public static ApiFailure invalid(ResourceKind kind, String name, FieldErrors errors) {
        ObjectNode details = details(kind, kind.kind(), name);
        String what = kind.qualifiedKind() + " " + QuotedText.of(name);
        return invalid(what, details, errors.all());
    }

    public static ApiFailure invalidListOptions(FieldErrors errors) {
        return invalidOptions("ListOptions", errors);
    }

    /** A patch that leaves no object of its kind. */
    public ApiFailure ofPatch(String patched) {
        if (unfitness.isEmpty()) {
            return this;
        }
        FieldErrors errors = new FieldErrors();
        errors.invalid("patch", patched, unfitness);
        return invalid(" \"\"", JsonTrees.object(), errors.all());
    }

    /** The kind is that of the options, for example {@code PatchOptions}. */
    public static ApiFailure invalidOptions(String kind, FieldErrors errors) {
        ObjectNode details = JsonTrees.object().put("group", "meta.k8s.io").put("kind", kind);
        return invalid(kind + ".meta.k8s.io \"\"", details, errors.all());
    }

    private static ApiFailure invalid(String what, ObjectNode details, List<FieldError> errors) {
        ArrayNode causes = details.putArray("causes");
        for (FieldError error : errors) {
            causes.addObject()
                    .put("reason", error.reason())
                    .put("message", error.message())
                    .put("field", error.field());
        }
        List<String> problems =
                errors.stream().map(FieldError::toString).distinct().toList();
        String list = String.join(", ", problems);
        return new ApiFailure(
                422, "Invalid", what + " is invalid: " + (problems.size() == 1 ? list : "[" + list + "]"), details);
    }

    /** A well-formed patch that does not apply to the object. */
    public static ApiFailure unprocessable() {
        return general(422, "Invalid", "the server rejected our request due to an error in our request");
    }

    public static ApiFailure badRequest(String message) {
        return new ApiFailure(400, "BadRequest", message);
    }

    /** A body that is not an object of its kind. */
    public static ApiFailure unfit(ResourceKind kind, String why) {
        return unfit(kind.kind(), kind.version(), kind, why);
    }

    /** A body that claims to be of another kind, or version, than the expected one. */
    public static ApiFailure unfit(String sent, String version, ResourceKind wanted, String why) {
        String message =
                "%s in version \"%s\" cannot be handled as a %s: %s".formatted(sent, version, wanted.kind(), why);
        return new ApiFailure(400, "BadRequest", message, JsonTrees.object(), why);
    }

    public static ApiFailure methodNotAllowed() {
        return general(405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
    }

    public static ApiFailure notAcceptable(List<String> accepted) {
        return notAcceptable("only the following media types are accepted: " + String.join(", ", accepted));
    }

    /** A request that accepts none of the forms that its resource has. */
    public static ApiFailure unrepresentable(List<String> available) {
        return general(
                406,
                "NotAcceptable",
                "406: Not Acceptable\n\nAvailable representations: " + String.join(", ", available));
    }

    /** A patch of no known type. */
    public static ApiFailure unsupportedPatch() {
        return general(415, "UnsupportedMediaType", "415: Unsupported Media Type");
    }

    public static ApiFailure notAcceptable(String message) {
        return new ApiFailure(406, "NotAcceptable", message);
    }

    public static ApiFailure unsupportedBody(String accepted) {
        return new ApiFailure(
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: " + accepted);
    }

    public static ApiFailure tooLarge(String why) {
        return new ApiFailure(413, "RequestEntityTooLarge", "Request entity too large: " + why);
    }

    public static ApiFailure expired(long asked, long oldest) {
        return new ApiFailure(410, "Expired", "too old resource version: " + asked + " (" + oldest + ")");
    }

    /** The rest of a list whose revision has expired; the token asks for the rest as it is now. */
    public static ApiFailure expiredContinuation(String token) {
        ApiFailure failure = new ApiFailure(
                410,
                "Expired",
                "The provided continue parameter is too old to display a consistent list: start a new"
                        + " list without it, or take the token in this answer's metadata, with which the"
                        + " rest may be newer than what came before.");
        JsonTrees.metadata(failure.status).put("continue", token);
        return failure;
    }

    public static ApiFailure tooLargeRevision(long asked, long current) {
        ObjectNode details = JsonTrees.object();
        details.putArray("causes")
                .addObject()
                .put("reason", "ResourceVersionTooLarge")
                .put("message", "Too large resource version");
        details.put("retryAfterSeconds", 1);
        String message =
                "Timeout: Too large resource version: " + Long.toUnsignedString(asked) + ", current: " + current;
        return new ApiFailure(504, "Timeout", message, details);
    }

    public static ApiFailure timeout() {
        return general(504, "Timeout", "Timeout: request did not complete within the allotted timeout");
    }

    /** A request that HTTP itself refuses. */
    public static ApiFailure transport(int code, String message) {
        return new ApiFailure(code, code < 500 ? "BadRequest" : "InternalError", message);
    }

    public static ApiFailure internal(Throwable cause) {
        ApiFailure failure = new ApiFailure(500, "InternalError", "Internal error occurred: " + cause);
        failure.initCause(cause);
        return failure;
    }

    private static ObjectNode about(ResourceKind kind, String name) {
        return details(kind, kind.plural(), name);
    }

    private static String named(ResourceKind kind, String name) {
        return kind.qualifiedResource() + " " + QuotedText.of(name);
    }

    private static ObjectNode details(ResourceKind kind, String detailKind, String name) {
        ObjectNode details = JsonTrees.object();
        if (!name.isEmpty()) {
            details.put("name", name);
        }
        if (!kind.group().isEmpty()) {
            details.put("group", kind.group());
        }
        return details.put("kind", detailKind);
    }
}
