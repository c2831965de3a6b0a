// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import java.util.List;
import java.util.stream.Collectors;

/** A refused request: becomes a {@code Status} object on the wire. */
public final class ApiFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** In which forms clients can have an object. */
    private static final String ACCEPTED = "application/json, " + KubernetesProtobuf.MEDIA_TYPE;

    private final int code;
    private final transient ObjectNode status;

    private ApiFailure(int code, String reason, String message) {
        this(code, reason, message, Json.object());
    }

    private ApiFailure(int code, String reason, String message, ObjectNode details) {
        super(message);
        this.code = code;
        this.status = Json.object();
        status.put("kind", "Status").put("apiVersion", "v1");
        status.putObject("metadata");
        status.put("status", "Failure").put("message", message).put("reason", reason);
        if (!details.isEmpty()) {
            status.set("details", details);
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

    public ObjectNode status() {
        return status;
    }

    public static ApiFailure unknownPath() {
        return new ApiFailure(404, "NotFound", "the server could not find the requested resource");
    }

    public static ApiFailure notFound(ResourceKind kind, String name) {
        return new ApiFailure(404, "NotFound", named(kind, name) + " not found", about(kind, name));
    }

    public static ApiFailure alreadyExists(ResourceKind kind, String name) {
        return new ApiFailure(
                409, "AlreadyExists", named(kind, name) + " already exists", about(kind, name));
    }

    public static ApiFailure conflict(ResourceKind kind, String name, String why) {
        return new ApiFailure(
                409,
                "Conflict",
                "Operation cannot be fulfilled on " + named(kind, name) + ": " + why,
                about(kind, name));
    }

    /**
     * A field that another manager owns.
     *
     * @param owner the manager, as messages describe it
     */
    public record Conflict(String owner, String field) {}

    /** An apply that is not to take fields from those who own them. */
    public static ApiFailure applyConflicts(List<Conflict> conflicts) {
        ObjectNode details = Json.object();
        ArrayNode causes = details.putArray("causes");
        for (Conflict conflict : conflicts) {
            causes.addObject()
                    .put("reason", "FieldManagerConflict")
                    .put("message", "conflict with " + conflict.owner)
                    .put("field", conflict.field);
        }
        String list =
                conflicts.stream()
                        .map(conflict -> "conflict with " + conflict.owner + ": " + conflict.field)
                        .collect(Collectors.joining(", "));
        String count = conflicts.size() + (conflicts.size() == 1 ? " conflict: " : " conflicts: ");
        return new ApiFailure(409, "Conflict", "Apply failed with " + count + list, details);
    }

    public static ApiFailure invalidPatchOptions(FieldErrors errors) {
        return invalidOptions("PatchOptions", errors);
    }

    public static ApiFailure invalid(ResourceKind kind, String name, FieldErrors errors) {
        ObjectNode details = details(kind, kind.kind(), name);
        return invalid(kind.qualifiedKind() + " \"" + name + "\"", details, errors.all());
    }

    public static ApiFailure invalidListOptions(FieldErrors errors) {
        return invalidOptions("ListOptions", errors);
    }

    private static ApiFailure invalidOptions(String kind, FieldErrors errors) {
        ObjectNode details = Json.object().put("group", "meta.k8s.io").put("kind", kind);
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
        List<String> problems = errors.stream().map(FieldError::toString).distinct().toList();
        String list = String.join(", ", problems);
        return new ApiFailure(
                422,
                "Invalid",
                what + " is invalid: " + (problems.size() == 1 ? list : "[" + list + "]"),
                details);
    }

    /** A well-formed patch that does not apply to the object. */
    public static ApiFailure unprocessable(String message) {
        return new ApiFailure(422, "Invalid", message);
    }

    public static ApiFailure badRequest(String message) {
        return new ApiFailure(400, "BadRequest", message);
    }

    /** A body that is no object of its kind. */
    public static ApiFailure unfit(ResourceKind kind, String why) {
        return badRequest(
                "%s in version \"%s\" cannot be handled as a %s: %s"
                        .formatted(kind.kind(), kind.version(), kind.kind(), why));
    }

    public static ApiFailure methodNotAllowed() {
        return new ApiFailure(
                405,
                "MethodNotAllowed",
                "the server does not allow this method on the requested resource");
    }

    public static ApiFailure notAcceptable() {
        return notAcceptable("only the following media types are accepted: " + ACCEPTED);
    }

    public static ApiFailure notAcceptable(String message) {
        return new ApiFailure(406, "NotAcceptable", message);
    }

    public static ApiFailure unsupportedBody(String accepted) {
        return new ApiFailure(
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                        + accepted);
    }

    public static ApiFailure tooLarge(int limit) {
        return new ApiFailure(413, "RequestEntityTooLarge", "limit is " + limit + " bytes");
    }

    public static ApiFailure expired(long asked, long oldest) {
        return new ApiFailure(
                410, "Expired", "too old resource version: " + asked + " (" + oldest + ")");
    }

    /**
     * The rest of a list whose revision has expired.
     *
     * @param token asks for the rest as it is now
     */
    public static ApiFailure expiredContinuation(String token) {
        ApiFailure failure =
                new ApiFailure(
                        410,
                        "Expired",
                        "The provided continue parameter is too old to display a consistent list: start a new"
                                + " list without it, or take the token in this answer's metadata, with which the"
                                + " rest may be newer than what came before.");
        Json.metadata(failure.status).put("continue", token);
        return failure;
    }

    public static ApiFailure tooLargeRevision(long asked, long current) {
        ObjectNode details = Json.object();
        details.putArray("causes")
                .addObject()
                .put("reason", "ResourceVersionTooLarge")
                .put("message", "Too large resource version");
        details.put("retryAfterSeconds", 1);
        return new ApiFailure(
                504,
                "Timeout",
                "Timeout: Too large resource version: " + asked + ", current: " + current,
                details);
    }

    /** A request that HTTP itself refuses. */
    public static ApiFailure transport(int code, String message) {
        return new ApiFailure(code, code < 500 ? "BadRequest" : "InternalError", message);
    }

    public static ApiFailure internal(Throwable cause) {
        ApiFailure failure =
                new ApiFailure(500, "InternalError", "Internal error occurred: " + cause);
        failure.initCause(cause);
        return failure;
    }

    private static ObjectNode about(ResourceKind kind, String name) {
        return details(kind, kind.plural(), name);
    }

    private static String named(ResourceKind kind, String name) {
        return kind.qualifiedResource() + " \"" + name + "\"";
    }

    private static ObjectNode details(ResourceKind kind, String detailKind, String name) {
        ObjectNode details = Json.object();
        details.put("name", name);
        if (!kind.group().isEmpty()) {
            details.put("group", kind.group());
        }
        return details.put("kind", detailKind);
    }
}
