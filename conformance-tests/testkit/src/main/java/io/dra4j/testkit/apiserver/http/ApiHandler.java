// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.apply.Patches;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.model.Traffic;
import io.dra4j.testkit.rbac.ApiAction;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpStream;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Routes requests by their paths, and turns every refusal into a Status. */
final class ApiHandler extends Handler.Abstract {
    private static final Logger LOG = LoggerFactory.getLogger(ApiHandler.class);

    private final ResourceKinds kinds;
    private final Discovery discovery;
    private final OpenApi openApi;
    private final ResourceEndpoint resources;
    private final Serving serving;
    private final Random chances = new Random(1); // the same in each run
    private final RequestCounts counts = new RequestCounts();

    ApiHandler(ResourceKinds kinds, ResourceEndpoint resources, Serving serving) {
        this.kinds = kinds;
        this.serving = serving;
        this.discovery = new Discovery(kinds);
        this.openApi = new OpenApi(kinds);
        this.resources = resources;
    }

    RequestCounts counts() {
        return counts;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        if (chances.nextDouble() < serving.goawayChance()) {
            endConnection(request);
        }
        answer(Transport.of(request, response, callback), exchange -> counts.add(exchange, request));
        return true;
    }

    /** Ends an HTTP/2 connection once its requests have ended; the client is notified (GOAWAY). */
    private static void endConnection(Request request) {
        if (request.getConnectionMetaData().getConnection() instanceof HTTP2Connection connection) {
            connection.getSession().shutdown();
        }
    }

    /** Answers a request, which {@code counted} receives when its query has been read. */
    void answer(Transport transport, Consumer<Exchange> counted) {
        Exchange exchange = new Exchange(transport, serving.requestTimeout());
        try {
            exchange.readQuery();
            counted.accept(exchange);
            route(exchange, exchange.segments());
        } catch (ApiFailure failure) {
            exchange.respond(failure);
        } catch (RuntimeException e) {
            LOG.atError()
                    .addKeyValue("method", transport.method())
                    .addKeyValue("path", transport.path())
                    .setCause(e)
                    .log("The embedded API server failed on a request");
            exchange.respond(ApiFailure.internal(e));
        }
    }

    private void route(Exchange exchange, List<String> path) {
        switch (path.isEmpty() ? "" : path.get(0)) {
            case "api" -> api(exchange, path);
            case "apis" -> apis(exchange, path);
            case "version", "healthz", "livez", "readyz", "openapi" -> aside(exchange, path);
            default -> nothing(exchange);
        }
    }

    /** Answers a path that no part of the API has. */
    private void nothing(Exchange exchange) {
        if (kinds.version().atLeast(KubernetesVersion.V1_38)) {
            exchange.respond(404, ApiFailure.unregisteredPath().status());
        } else {
            exchange.respondText(404, "404 page not found\n");
        }
    }

    private void aside(Exchange exchange, List<String> path) {
        boolean document = path.get(0).equals("openapi");
        if (!document && path.size() > 1) {
            nothing(exchange);
            return;
        }
        exchange.require("GET");
        switch (path.get(0)) {
            case "version" -> exchange.respond(200, version());
            case "openapi" -> openApi.handle(exchange, path.subList(1, path.size()));
            default -> exchange.respondText(200, "ok");
        }
    }

    private void api(Exchange exchange, List<String> path) {
        if (path.size() == 1) {
            discovery.core(exchange);
        } else if (path.size() == 2) {
            discovery.resources(exchange, "", path.get(1));
        } else {
            resource(exchange, "", path.get(1), path.subList(2, path.size()));
        }
    }

    private void apis(Exchange exchange, List<String> path) {
        if (Reviews.areAt(path.subList(1, path.size()))) {
            Reviews.handle(exchange, path.subList(1, path.size()));
            return;
        }
        if (path.size() > 1 && !kinds.groups().contains(path.get(1))) {
            nothing(exchange);
            return;
        }
        switch (path.size()) {
            case 1 -> discovery.groups(exchange);
            case 2 -> discovery.group(exchange, path.get(1));
            case 3 -> discovery.resources(exchange, path.get(1), path.get(2));
            default -> resource(exchange, path.get(1), path.get(2), path.subList(3, path.size()));
        }
    }

    private void resource(Exchange exchange, String group, String groupVersion, List<String> rest) {
        resources.handle(exchange, ResourcePath.parse(kinds, group, groupVersion, rest));
    }

    private JsonNode version() {
        KubernetesVersion version = kinds.version();
        return JsonTrees.object()
                .put("major", "1")
                .put("minor", Integer.toString(version.minor()))
                .put("emulationMajor", "1")
                .put("emulationMinor", Integer.toString(version.minor()))
                .put("minCompatibilityMajor", "1")
                .put("minCompatibilityMinor", Integer.toString(version.minor() - 1))
                .put("gitVersion", version.gitVersion())
                .put("gitCommit", "")
                .put("gitTreeState", "clean")
                .put("buildDate", "1970-01-01T00:00:00Z")
                .put("goVersion", "")
                .put("compiler", "")
                .put("platform", "linux/amd64");
    }

    /** The requests of each kind and protocol, and the bytes of each kind; thread-safe. */
    static final class RequestCounts {

        private final Map<String, Traffic> traffic = new ConcurrentHashMap<>();
        private final Map<String, Long> protocols = new ConcurrentHashMap<>();

        /** Counts a request, regardless of its outcome. */
        void add(Exchange exchange, Request request) {
            Map<String, String> query = Map.of("watch", Boolean.toString(exchange.flag("watch")));
            ApiAction action = ApiAction.of(exchange.method(), exchange.path(), query);
            String resource = action.resource().isEmpty() ? "(no resource)" : action.resource();
            String kind = action.verb() + " " + resource;
            add(kind, new Traffic(1, line(request) + bytes(request.getHeaders()), 0));
            request.addHttpStreamWrapper(stream -> new CountedStream(stream, kind));
            protocols.merge(request.getConnectionMetaData().getProtocol(), 1L, Long::sum);
        }

        private void add(String kind, Traffic more) {
            traffic.merge(kind, more, (all, one) -> all.and(one, 1));
        }

        private static int line(Request request) {
            return "%s %s HTTP/1.1\r\n\r\n"
                    .formatted(request.getMethod(), request.getHttpURI().getPathQuery())
                    .length();
        }

        private static int bytes(HttpFields head) {
            return head.stream()
                    .mapToInt(field -> field.toString().length() + 2)
                    .sum();
        }

        SortedMap<String, Traffic> traffic() {
            return new TreeMap<>(traffic);
        }

        SortedMap<String, Long> protocols() {
            return new TreeMap<>(protocols);
        }

        /** Counts the bytes of a request's body and of its answer. */
        private final class CountedStream extends HttpStream.Wrapper {

            private static final int HEAD = "HTTP/1.1 200 OK\r\n\r\n".length();

            private final String kind;

            CountedStream(HttpStream stream, String kind) {
                super(stream);
                this.kind = kind;
            }

            @Override
            public Content.@Nullable Chunk read() {
                Content.Chunk chunk = super.read();
                if (chunk != null) {
                    add(kind, new Traffic(0, chunk.remaining(), 0));
                }
                return chunk;
            }

            @Override
            public void send(
                    MetaData.Request request,
                    MetaData.@Nullable Response response,
                    boolean last,
                    @Nullable ByteBuffer content,
                    Callback callback) {
                int head = response == null ? 0 : HEAD + bytes(response.getHttpFields());
                add(kind, new Traffic(0, 0, head + (content == null ? 0 : content.remaining())));
                super.send(request, response, last, content, callback);
            }
        }
    }

    /** Answers access reviews, which are not stored: every request is allowed, and its user is unknown. */
    private static final class Reviews {

        private static final Map<String, String> KINDS = Map.of(
                "authorization.k8s.io/v1/selfsubjectaccessreviews", "SelfSubjectAccessReview",
                "authorization.k8s.io/v1/subjectaccessreviews", "SubjectAccessReview",
                "authentication.k8s.io/v1/selfsubjectreviews", "SelfSubjectReview");

        private Reviews() {}

        /** Returns whether a path, without its first part, is that of a review. */
        static boolean areAt(List<String> path) {
            return KINDS.containsKey(String.join("/", path));
        }

        static void handle(Exchange exchange, List<String> path) {
            exchange.require("POST");
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

    /**
     * OpenAPI v3 documents, as far as {@code kubectl apply} needs them: the kinds, that a patch accepts {@code
     * fieldValidation}, and the patch formats. Schemas are permissive: they name no fields.
     *
     * <p>It has no OpenAPI v2 document; clients that know only v2 get a 404.
     */
    private record OpenApi(ResourceKinds kinds) {
        private static final List<String> PATCH_TYPES =
                List.of("application/json-patch+json", "application/merge-patch+json");

        void handle(Exchange exchange, List<String> path) {
            if (path.equals(List.of("v3"))) {
                exchange.respond(200, index());
            } else if (path.size() > 1 && path.get(0).equals("v3")) {
                exchange.respond(200, document(path.subList(1, path.size())));
            } else {
                throw ApiFailure.unknownPath();
            }
        }

        private ObjectNode index() {
            ObjectNode index = JsonTrees.object();
            ObjectNode paths = index.putObject("paths");
            entry(paths, "api/v1");
            for (String group : kinds.groups()) {
                kinds.versions(group).forEach(v -> entry(paths, "apis/" + group + "/" + v));
            }
            return index;
        }

        private static void entry(ObjectNode paths, String path) {
            paths.putObject(path).put("serverRelativeURL", "/openapi/v3/" + path);
        }

        private ObjectNode document(List<String> path) {
            boolean isCore = path.size() == 2 && path.get(0).equals("api");
            boolean isOther = path.size() == 3
                    && path.get(0).equals("apis")
                    && !path.get(1).isEmpty();
            String group = isOther ? path.get(1) : "";
            String groupVersion = path.get(path.size() - 1);
            List<ResourceKind> served = kinds.inGroup(group, groupVersion);
            if (!isCore && !isOther || served.isEmpty()) {
                throw ApiFailure.unknownPath();
            }
            ObjectNode document = JsonTrees.object().put("openapi", "3.0.0");
            String version = kinds.version().gitVersion();
            document.putObject("info").put("title", "Kubernetes").put("version", version);
            ObjectNode paths = document.putObject("paths");
            ObjectNode schemas = document.putObject("components").putObject("schemas");
            for (ResourceKind stored : served) {
                ResourceKind kind = stored.in(groupVersion);
                String collection = "/"
                        + String.join("/", path)
                        + (kind.namespaced() ? "/namespaces/{namespace}/" : "/")
                        + kind.plural();
                paths.set(collection, operations(kind, "get", "post"));
                paths.set(collection + "/{name}", operations(kind, "get", "put", "patch", "delete"));
                schemas.set(schemaName(kind), schema(kind));
            }
            return document;
        }

        private static ObjectNode operations(ResourceKind kind, String... methods) {
            ObjectNode path = JsonTrees.object();
            for (String method : methods) {
                ObjectNode operation = path.putObject(method);
                operation.set("x-kubernetes-group-version-kind", kind.groupVersionKind());
                operation.put("x-kubernetes-action", method);
                ArrayNode parameters = operation.putArray("parameters");
                parameters.add(parameter("dryRun"));
                parameters.add(parameter("fieldValidation"));
                if (method.equals("patch")) {
                    ObjectNode content = operation.putObject("requestBody").putObject("content");
                    for (String type : patchTypes(kind)) {
                        content.putObject(type).putObject("schema").put("type", "object");
                    }
                }
                operation.putObject("responses").putObject("200").put("description", "OK");
            }
            return path;
        }

        private static List<String> patchTypes(ResourceKind kind) {
            return Stream.concat(PATCH_TYPES.stream(), Stream.of(Patches.APPLY).filter(type -> kind.has(Trait.APPLY)))
                    .toList();
        }

        private static ObjectNode parameter(String name) {
            ObjectNode parameter = JsonTrees.object().put("name", name).put("in", "query");
            parameter.putObject("schema").put("type", "string").put("uniqueItems", true);
            return parameter;
        }

        private static ObjectNode schema(ResourceKind kind) {
            ObjectNode schema =
                    JsonTrees.object().put("type", "object").put("x-kubernetes-preserve-unknown-fields", true);
            schema.putArray("x-kubernetes-group-version-kind").add(kind.groupVersionKind());
            return schema;
        }

        private static String schemaName(ResourceKind kind) {
            String group = kind.group().isEmpty() ? "core" : kind.group().split("\\.")[0];
            return String.join(".", "io.k8s.api", group.toLowerCase(Locale.ROOT), kind.version(), kind.kind());
        }
    }
}
