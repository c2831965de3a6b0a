// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.apply.Patches;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.registry.WriteOptions;
import io.dra4j.testkit.http.PathSegments;
import io.dra4j.testkit.protobuf.KubernetesProtobuf;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.QuotedQualityCSV;
import org.eclipse.jetty.util.Fields;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One HTTP request and its only response. */
final class Exchange {
    private static final Logger LOG = LoggerFactory.getLogger(Exchange.class);
    private static final int LONGEST_MANAGER = 128;

    private static final List<String> FIELD_VALIDATIONS = List.of("", "Ignore", "Strict", "Warn");

    /** The limit of the real server for a request body. */
    private static final int BODY_LIMIT = 3 * 1024 * 1024;

    /** Longer bodies of responses are compressed for clients that accept it, as by the real server. */
    private static final int LONGEST_PLAIN = 128 * 1024;

    private static final String GZIP = "gzip";
    private static final long LONGEST_DRAINED = 32L * 1024 * 1024;

    private static final int LONGEST_WARNINGS = 4096;
    private static final int LONGEST_OF_MANY = 256;

    private final Transport transport;
    private final RequestBody body;
    private final Fields query = new Fields(true);

    private final Set<String> warnings = new LinkedHashSet<>();

    /** Problems with fields that the body has more than once. */
    private List<String> repeated = List.of();

    /** The limit is the time in which the request's body has to arrive. */
    Exchange(Transport transport, Duration limit) {
        this.transport = transport;
        this.body = new RequestBody(transport.body(), limit);
    }

    /** Reads the query, once; 400 when it cannot be decoded. */
    void readQuery() {
        try {
            query.addAll(transport.query().get());
        } catch (IllegalArgumentException | IllegalStateException e) { // not hex, or not UTF-8
            throw ApiFailure.badRequest("the query of the request is invalid: " + e.getMessage());
        }
    }

    String method() {
        return transport.method();
    }

    /** The path as it was sent. */
    String path() {
        return transport.path();
    }

    /** The path's segments, each decoded once; 400 when that is not possible. */
    List<String> segments() {
        try {
            return PathSegments.of(path());
        } catch (IllegalArgumentException e) {
            throw ApiFailure.badRequest("the path of the request is invalid: " + e.getMessage());
        }
    }

    /** Returns whether a query parameter was sent, an empty one included. */
    boolean has(String name) {
        return query.getValue(name) != null;
    }

    /** A query parameter, empty when it was not sent. */
    String query(String name) {
        String value = query.getValue(name);
        return value == null ? "" : value;
    }

    /** Any value other than 0 and false is true, as in the real server. */
    boolean flag(String name) {
        String value = query.getValue(name);
        return value != null && !value.equals("0") && !value.equalsIgnoreCase("false");
    }

    void require(String method) {
        if (!method().equals(method)) {
            throw ApiFailure.methodNotAllowed();
        }
    }

    boolean dryRun() {
        return query("dryRun").equals("All");
    }

    /**
     * The options of a write.
     *
     * @param kind the kind of the options, for example {@code PatchOptions}
     * @param errors what is wrong with them so far
     * @throws ApiFailure 422 when they are invalid
     */
    WriteOptions writeOptions(String kind, FieldErrors errors) {
        String manager = query("fieldManager");
        if (manager.length() > LONGEST_MANAGER) {
            errors.tooLong("fieldManager", LONGEST_MANAGER);
        }
        checkPrintable(manager, errors);
        checkDryRun(query.getValuesOrEmpty("dryRun"), errors);
        String validation = query("fieldValidation");
        if (!FIELD_VALIDATIONS.contains(validation)) {
            errors.notSupported("fieldValidation", validation, FIELD_VALIDATIONS);
        }
        if (!errors.isEmpty()) {
            throw ApiFailure.invalidOptions(kind, errors);
        }
        return new WriteOptions(dryRun(), validation, fieldManager(), this::warn, () -> repeated);
    }

    private static void checkPrintable(String manager, FieldErrors errors) {
        int position = 0;
        for (int character : manager.codePoints().toArray()) {
            String text = Character.toString(character);
            if (!QuotedText.isPrintable(character)) {
                String rule = "invalid character U+%04X (at position %d)";
                errors.invalid("fieldManager", manager, rule.formatted(character, position));
            }
            position += text.getBytes(StandardCharsets.UTF_8).length;
        }
    }

    /** Collects the problems of the values of {@code dryRun}. */
    static void checkDryRun(List<String> values, FieldErrors errors) {
        if (!values.stream().allMatch("All"::equals)) {
            ArrayNode sent = JsonTrees.MAPPER.createArrayNode();
            values.forEach(sent::add);
            errors.notSupported("dryRun", sent, List.of("All"));
        }
    }

    List<String> queries(String name) {
        return query.getValuesOrEmpty(name);
    }

    /** The field manager that the client names, or the first word of its user agent. */
    private String fieldManager() {
        String named = query("fieldManager");
        String agent = transport.headers().get(HttpHeader.USER_AGENT);
        return named.isEmpty() ? (agent == null ? "unknown" : agent).split("/")[0] : named;
    }

    /** Keeps a warning, unless a header cannot contain it. */
    private void warn(String warning) {
        if (warning.chars().noneMatch(Character::isISOControl)) {
            warnings.add(warning);
        }
    }

    /** Adds the warnings; if they are too long together, truncated ones. */
    private void addWarnings() {
        int all = warnings.stream().mapToInt(String::length).sum();
        int sent = 0;
        for (String warning : warnings) {
            boolean tooLong = all > LONGEST_WARNINGS;
            if (tooLong && sent >= LONGEST_WARNINGS) {
                return;
            }
            int length = Math.min(warning.length(), tooLong ? LONGEST_OF_MANY : all);
            String text = warning.substring(0, length);
            String escaped = text.replace("\\", "\\\\").replace("\"", "\\\"");
            transport.responseHeaders().add("Warning", "299 - \"" + escaped + '"');
            sent += length;
        }
    }

    /** The JDK's client offers h2c by the same header; that offer is simply not taken. */
    boolean asksForWebSocket() {
        return transport.headers().contains(HttpHeader.UPGRADE, "websocket");
    }

    /** The Accept header's media types, best first; everything without that header. */
    List<String> accepted() {
        QuotedQualityCSV accept = new QuotedQualityCSV();
        transport.headers().getValuesList(HttpHeader.ACCEPT).forEach(accept::addValue);
        List<String> values = accept.getValues();
        return values.isEmpty() ? List.of("*/*") : values;
    }

    /** The body's media type without parameters. */
    String contentType() {
        String header = transport.headers().get(HttpHeader.CONTENT_TYPE);
        return header == null || header.isBlank()
                ? Body.JSON
                : HttpField.stripParameters(header).trim().toLowerCase(Locale.ROOT);
    }

    /** The body as an object of a kind; the body may omit the kind. */
    ObjectNode objectBody(ResourceKind kind) {
        return objectBody(rawBody(), kind.apiVersion(), kind.kind());
    }

    /** The body as an object of a kind that is not stored. */
    ObjectNode objectBody(String apiVersion, String kind) {
        return objectBody(rawBody(), apiVersion, kind);
    }

    private ObjectNode objectBody(byte[] body, String apiVersion, String kind) {
        return switch (contentType()) {
            case Body.JSON -> asObject(json(body, kind), kind);
            case Body.YAML -> asObject(yamlObject(body, kind), kind);
            case KubernetesProtobuf.MEDIA_TYPE -> Protobuf.read(body, apiVersion, kind);
            default -> throw ApiFailure.unsupportedBody(String.join(", ", Negotiation.FORMS));
        };
    }

    /** The body of an apply: YAML, of which JSON is the usual form. */
    ObjectNode appliedBody(ResourceKind kind) {
        JsonNode applied = yaml(rawBody(), "error decoding YAML: error converting YAML to JSON: ");
        if (!applied.isObject() && !applied.isNull()) {
            throw ApiFailure.badRequest("error decoding YAML: error unmarshaling JSON: while decoding JSON: "
                    + JsonBody.mismatch(applied, "map[string]interface {}"));
        }
        return asObject(applied, kind.kind());
    }

    /** The body of a DELETE, or none; 500 when it can't be read, as the real server has no other code for that. */
    Optional<ObjectNode> deleteOptionsBody() {
        byte[] body = rawBody();
        if (body.length == 0) {
            return Optional.empty();
        }
        String problem = contentType().equals(Body.JSON) ? JsonSyntax.problem(body) : "";
        if (!problem.isEmpty()) {
            throw ApiFailure.unexplained("couldn't get version/kind; json parse error: " + problem);
        }
        return Optional.of(objectBody(body, "v1", "DeleteOptions"));
    }

    /** The body of a patch, which is not parsed if the object does not exist. */
    Supplier<JsonNode> patchBody() {
        byte[] body = rawBody();
        return () -> {
            String problem = JsonSyntax.problem(body);
            if (!problem.isEmpty()) {
                throw Patches.unreadable(contentType(), problem);
            }
            return JsonBody.read(body);
        };
    }

    private static ObjectNode asObject(JsonNode node, String kind) {
        if (node instanceof ObjectNode object) {
            return object;
        }
        if (node.isNull()) {
            return JsonTrees.object();
        }
        throw unrecognized(kind, JsonBody.mismatch(node, JsonBody.TYPE), JsonTrees.bytes(node));
    }

    private JsonNode json(byte[] body, String kind) {
        return JsonBody.plain(body).orElseGet(() -> oddJson(body, kind));
    }

    private JsonNode yamlObject(byte[] body, String kind) {
        String refusal = "the object provided is unrecognized (must be of type %s): ";
        JsonNode object = yaml(body, refusal.formatted(kind));
        List<String> keys = JsonBody.repeatedKeys(body);
        if (!keys.isEmpty()) {
            repeated = List.of("yaml: unmarshal errors:\n  " + String.join("\n  ", keys));
        }
        return object;
    }

    private JsonNode oddJson(byte[] body, String kind) {
        String problem = JsonSyntax.problem(body);
        if (!problem.isEmpty()) {
            throw unrecognized(kind, problem, body);
        }
        try {
            repeated = JsonBody.repeatedFields(body).stream()
                    .map(field -> "duplicate field " + QuotedText.of(field))
                    .toList();
            return JsonBody.read(body);
        } catch (UncheckedIOException e) { // deeper, or with longer numbers, than this server reads
            throw unrecognized(kind, String.valueOf(e.getCause().getMessage()), body);
        }
    }

    private static ApiFailure unrecognized(String kind, String problem, byte[] body) {
        return ApiFailure.badRequest(
                "the object provided is unrecognized (must be of type %s): couldn't get version/kind; json parse error: %s (%s)"
                        .formatted(kind, problem, Protobuf.quoted(body)));
    }

    /** Converts through bytes, so that numbers compare like those of other writes. */
    private static JsonNode yaml(byte[] body, String refusal) {
        try {
            return JsonBody.read(JsonTrees.bytes(JsonTrees.YAML.readTree(body)));
        } catch (JsonProcessingException e) {
            throw ApiFailure.badRequest(refusal + "yaml: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new UncheckedIOException(e); // Bytes in memory are read without it.
        }
    }

    private byte[] rawBody() {
        if (transport.headers().contains(HttpHeader.CONTENT_ENCODING)) {
            throw ApiFailure.unsupportedBody("application/json, without Content-Encoding");
        }
        try {
            byte[] bytes = body.read(BODY_LIMIT);
            if (bytes.length > BODY_LIMIT) {
                // A client that is still writing would not read the response.
                body.drain(LONGEST_DRAINED);
                throw ApiFailure.tooLarge("limit is " + BODY_LIMIT);
            }
            return bytes;
        } catch (IOException e) {
            throw new UncheckedIOException("the request body ended early", e);
        }
    }

    void respond(int status, String contentType, byte[] body) {
        transport.status().accept(status);
        addWarnings();
        HttpFields.Mutable head = transport.responseHeaders();
        head.put(HttpHeader.CONTENT_TYPE, contentType);
        byte[] sent = body;
        if (body.length > LONGEST_PLAIN && transport.headers().contains(HttpHeader.ACCEPT_ENCODING, GZIP)) {
            head.put(HttpHeader.CONTENT_ENCODING, GZIP);
            head.put(HttpHeader.VARY, HttpHeader.ACCEPT_ENCODING.asString());
            sent = compressed(body);
        }
        head.put(HttpHeader.CONTENT_LENGTH, sent.length);
        transport.response().write(true, ByteBuffer.wrap(sent), transport.callback());
    }

    private static byte[] compressed(byte[] body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes) {
            {
                def.setLevel(Deflater.BEST_SPEED);
            }
        }) {
            out.write(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // Bytes in memory are written without it.
        }
        return bytes.toByteArray();
    }

    void respond(int status, Body body) {
        respond(status, body.contentType(), body.bytes());
    }

    void respond(int status, JsonNode body) {
        respond(status, Body.json(body));
    }

    void respondText(int status, String text) {
        respond(status, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    void respond(ApiFailure failure) {
        drain();
        JsonNode retryAfter = failure.status().path("details").path("retryAfterSeconds");
        if (!retryAfter.isMissingNode()) {
            transport.responseHeaders().put(HttpHeader.RETRY_AFTER, retryAfter.asText());
        }
        respond(failure.code(), Negotiation.ofFailure(accepted(), failure));
    }

    /** Reads what is left of the body, so that the connection can be used again. */
    private void drain() {
        try {
            if (!body.drain(BODY_LIMIT)) {
                transport.responseHeaders().put(HttpHeader.CONNECTION, "close");
            }
        } catch (IOException e) {
            LOG.atDebug().setCause(e).log("The client ended its request early");
        }
    }

    /** Leaves the response to a stream, which writes it piece by piece. */
    Transport startStream(String contentType) {
        transport.status().accept(200);
        HttpFields.Mutable head = transport.responseHeaders();
        head.put(HttpHeader.CONTENT_TYPE, contentType);
        head.put(HttpHeader.CACHE_CONTROL, "no-cache, private");
        return transport;
    }
}
