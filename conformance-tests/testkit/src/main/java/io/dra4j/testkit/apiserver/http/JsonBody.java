// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonStreamContext;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import io.dra4j.rules.QuotedText;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Reads the body of a request that is known to be JSON. */
final class JsonBody {
    private static final ObjectReader WITHOUT_REPETITION =
            JsonTrees.MAPPER.readerFor(JsonNode.class).with(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY);

    /** The part of a body that the real server reads first, to find out its kind. */
    static final String TYPE =
            "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }";

    private JsonBody() {}

    /** The value in one pass; none if the body is not JSON, or if fields are repeated. */
    static Optional<JsonNode> plain(byte[] body) {
        try {
            JsonNode value = WITHOUT_REPETITION.readTree(body);
            return value.isMissingNode() ? Optional.empty() : Optional.of(value);
        } catch (JsonProcessingException e) {
            return Optional.empty(); // A second pass finds out why.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static JsonNode read(byte[] body) {
        try {
            return JsonTrees.MAPPER.readTree(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Says that a value is not an object of a type of the real server. */
    static String mismatch(JsonNode value, String type) {
        String form = value.isBoolean() ? "bool" : value.getNodeType().name();
        return "json: cannot unmarshal %s into Go value of type %s".formatted(form.toLowerCase(Locale.ROOT), type);
    }

    /** The paths of fields that objects have more than once; the last value counts. */
    static List<String> repeatedFields(byte[] body) {
        try {
            WITHOUT_REPETITION.readTree(body);
            return List.of();
        } catch (MismatchedInputException e) {
            return paths(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * The keys that maps of the first document of YAML have more than once, with their lines; the last value counts.
     */
    static List<String> repeatedKeys(byte[] body) {
        Set<String> seen = new HashSet<>();
        List<String> repeated = new ArrayList<>();
        try (JsonParser parser = JsonTrees.YAML.createParser(body)) {
            while (parser.nextToken() != null && !isEnd(parser)) {
                if (parser.currentToken() == JsonToken.FIELD_NAME && !seen.add(path(parser.getParsingContext()))) {
                    repeated.add("line %d: key %s already set in map"
                            .formatted(parser.currentTokenLocation().getLineNr(), QuotedText.of(parser.currentName())));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return repeated;
    }

    private static boolean isEnd(JsonParser parser) {
        return parser.currentToken().isStructEnd() && parser.getParsingContext().inRoot();
    }

    private static List<String> paths(byte[] body) {
        Set<String> seen = new HashSet<>();
        List<String> repeated = new ArrayList<>();
        try (JsonParser parser = JsonTrees.MAPPER.createParser(body)) {
            while (parser.nextToken() != null) {
                boolean field = parser.currentToken() == JsonToken.FIELD_NAME;
                String path = field ? path(parser.getParsingContext()) : "";
                if (field && !seen.add(path) && !repeated.contains(path)) {
                    repeated.add(path);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return repeated;
    }

    private static String path(JsonStreamContext context) {
        if (context.inRoot()) {
            return "";
        }
        String parent = path(context.getParent());
        if (context.inArray()) {
            return parent + "[" + context.getCurrentIndex() + "]";
        }
        return parent.isEmpty() ? context.getCurrentName() : parent + "." + context.getCurrentName();
    }
}
