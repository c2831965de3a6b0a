// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.testkit.apiserver.HttpProbe.SLICES;
import static io.dra4j.testkit.apiserver.HttpProbe.json;
import static io.dra4j.testkit.apiserver.HttpProbe.slice;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Refusals by rules that hold for all kinds: of metadata, of parameters, of patches. */
class RefusedRequestsIT {
    private static final String NAME_RULE = "name part must consist of alphanumeric characters";

    @AutoClose
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder().version(KubernetesVersion.V1_36).start();

    private final HttpProbe http = new HttpProbe(server);

    @BeforeEach
    void createASlice() {
        assertThat(http.post(SLICES, slice("s1", 1)).status()).isEqualTo(201);
    }

    private static String with(String name, String metadata) {
        ObjectNode object = (ObjectNode) Json.parse(slice(name, 1));
        Json.metadata(object).setAll((ObjectNode) Json.parse(json(metadata)));
        return object.toString();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'labels':{'a b':'x'}}         | metadata.labels: Invalid value: \"a b\": " + NAME_RULE,
                "{'labels':{'a':'x y'}}         | metadata.labels: Invalid value: \"x y\": a valid label must be",
                "{'annotations':{'a b':'x'}}    | metadata.annotations: Invalid value: \"a b\": " + NAME_RULE,
                "{'finalizers':['a b/c']}       | metadata.finalizers: Invalid value: \"a b/c\": prefix part",
                "{'finalizers':['orphan','foregroundDeletion']} | finalizer orphan and foregroundDeletion cannot be both set",
                "{'ownerReferences':[{'apiVersion':'g/','kind':'K','name':'n','uid':'u'}]} | metadata.ownerReferences.apiVersion: Invalid value: \"g/\": version must not be empty",
                "{'ownerReferences':[{'apiVersion':'v1','kind':'','name':'','uid':''}]} | metadata.ownerReferences.uid: Invalid value: \"\": must not be empty",
                "{'ownerReferences':[{'apiVersion':'v1','kind':'Event','name':'n','uid':'u'}]} | /v1, Kind=Event is disallowed from being an owner",
                "{'ownerReferences':[{'apiVersion':'v1','kind':'A','name':'n','uid':'u','controller':true},{'apiVersion':'v1','kind':'B','name':'m','uid':'v','controller':true}]} | Found \"true\" in references for A/n and B/m",
            })
    void metadataIsCheckedInNewAndInChangedObjects(String metadata, String message) {
        Answer created = http.post(SLICES, with("s2", metadata));
        Answer updated = http.put(SLICES + "/s1", with("s1", metadata));

        assertThat(created.refusal()).isEqualTo("422 Invalid");
        assertThat(created.message()).contains(message);
        assertThat(updated.refusal()).isEqualTo("422 Invalid");
        assertThat(updated.message()).contains(message);
    }

    @Test
    void annotationsTogetherHaveALimit() {
        String most = "{'annotations':{'a':'%s'}}".formatted("x".repeat(256 * 1024 - 1));

        assertThat(http.post(SLICES, with("s2", most)).status()).isEqualTo(201);
        assertThat(http.post(SLICES, with("s3", most.replace("'a'", "'aa'"))).message())
                .contains("metadata.annotations: Too long: may not be more than 262144 bytes");
    }

    @Test
    void finalizersOfNewObjectsHaveADomain() {
        String finalizers = "{'finalizers':['foo']}";

        assertThat(http.post(SLICES, with("s2", finalizers)).message())
                .contains(
                        "metadata.finalizers[0]: Invalid value: \"foo\": name is neither a standard finalizer name nor is it fully qualified");
        assertThat(http.put(SLICES + "/s1", with("s1", finalizers)).status()).isEqualTo(200);
    }

    @Test
    void aBaseOfNamesIsCheckedAsWell() {
        assertThat(http.post(SLICES, with("", "{'generateName':'Bad_'}")).message())
                .contains("metadata.generateName: Invalid value: \"Bad_\"")
                .contains("metadata.name: Invalid value: \"Bad_");
        assertThat(http.post(SLICES, with("", "{'generateName':'s-'}")).status())
                .isEqualTo(201);
    }

    @ParameterizedTest
    @ValueSource(strings = {"{'deletionTimestamp':'2026-01-01T00:00:00Z'}", "{'deletionGracePeriodSeconds':5}"})
    void onlyTheServerMarksAnObjectAsDeleting(String metadata) {
        assertThat(http.put(SLICES + "/s1", with("s1", metadata)).message()).contains("field is immutable");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "?limit=                      | 400 BadRequest | strconv.ParseInt: parsing \"\": invalid syntax",
                "?timeoutSeconds=x            | 400 BadRequest | strconv.ParseInt: parsing \"x\": invalid syntax",
                "?watch=1&limit=x             | 400 BadRequest | strconv.ParseInt: parsing \"x\": invalid syntax",
                "?resourceVersionMatch=X      | 422 Invalid    | supported values: \"Exact\", \"NotOlderThan\", \"\"",
                "?watch=1&resourceVersionMatch=X | 422 Invalid | supported values: \"NotOlderThan\"",
                "/s1?resourceVersion=999999   | 504 Timeout    | Too large resource version: 999999",
                "/s1?resourceVersion=x        | 500            | resourceVersion: Invalid value: \"x\"",
                "?fieldSelector=metadata.name%3Da%3D   | 400 BadRequest | unescaped character in value: 61",
                "?fieldSelector=metadata.name%3Da%5Cx  | 400 BadRequest | invalid escape sequence: \\x",
                "?fieldSelector=metadata.name%20%3Da   | 400 BadRequest | Kind=ResourceSlice: metadata.name ",
                "?labelSelector=a%20in%20(x,!)         | 400 BadRequest | found '!', expected: ',', or identifier",
                "?labelSelector=a%20in%20(-x,-y)       | 400 BadRequest | requirement: [values[0][a]: Invalid value: \"-x\"",
                "?labelSelector=a%3E-1                 | 400 BadRequest | values[0][a]: Invalid value: \"-1\"",
            })
    void parametersOfReads(String query, String refusal, String message) {
        Answer answer = http.get(SLICES + query);

        assertThat(answer.refusal().strip()).isEqualTo(refusal);
        assertThat(answer.message()).contains(message.stripTrailing());
    }

    @Test
    void tablesCarryNothingElse() {
        Answer answer = http.get(SLICES + "?includeObject=all", "application/json;as=Table;v=v1;g=meta.k8s.io");

        assertThat(answer.message()).startsWith("Unable to convert to Table as requested");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "?gracePeriodSeconds=x | | 400 BadRequest | strconv.ParseInt: parsing \"x\"",
                "?propagationPolicy=X  | | 422 Invalid | supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
                "?propagationPolicy=Orphan&orphanDependents=1 | | 422 Invalid | cannot be both set",
                "| {'propagationPolicy':'X'} | 422 Invalid | DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy",
                "| {'gracePeriodSeconds':'x'} | 500 | json: cannot unmarshal string into Go struct field DeleteOptions",
                "| { | 500 | couldn't get version/kind; json parse error: unexpected end of JSON input",
            })
    void optionsOfDeletions(String query, String body, String refusal, String message) {
        String path = SLICES + "/s1" + (query == null ? "" : query);
        Answer answer = http.delete(path, body == null ? "" : json(body));

        assertThat(answer.refusal().strip()).isEqualTo(refusal);
        assertThat(answer.message()).contains(message);
        assertThat(http.get(SLICES + "/s1").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "json-patch+json  | [{'op':'add','path':'spec'}] | 422 | the server rejected our request",
                "json-patch+json  | [1]                        | 400 | error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
                "json-patch+json  | [{'op':1}]                 | 400 | jsonPatchOp.op of type string",
                "merge-patch+json | null                       | 400 | Invalid JSON Patch",
                "merge-patch+json | {'metadata':null}          | 400 | the name of the object (s1 based on URL) was undeterminable",
                "merge-patch+json | {'kind':'Foo'}             | 422 | no kind \"Foo\" is registered for version",
                "strategic-merge-patch+json | []               | 400 | json: cannot unmarshal array into Go value",
                "strategic-merge-patch+json | {'spec':{'driver':5}} | 422 | patch: Invalid value: \"map[spec:map[driver:5]]\"",
                "apply-patch+yaml | 1                          | 400 | error decoding YAML",
                "apply-patch+yaml | {'apiVersion':'v1','kind':'ResourceSlice','metadata':{'name':'s1'}} | 400 | Incorrect version specified in apply patch",
                "apply-patch+yaml | {'apiVersion':'resource.k8s.io/v1','kind':'Foo','metadata':{'name':'s1'}} | 500 | no corresponding type for resource.k8s.io/v1, Kind=Foo",
                "apply-patch+yaml | {'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{'name':'s1'},'spec':{'driver':5}} | 500 | failed to create typed patch object",
            })
    void patches(String type, String patch, int code, String message) {
        String manager = type.startsWith("apply") ? "?fieldManager=m" : "";
        String path = SLICES + "/s1" + manager;
        Answer answer = http.send("PATCH", path, "application/" + type, json(patch));

        assertThat(answer.status()).as(answer.message()).isEqualTo(code);
        assertThat(answer.message()).contains(message);
    }

    @Test
    void aPatchOfNothingIsNotRead() {
        Answer answer = http.send("PATCH", SLICES + "/s9", "application/merge-patch+json", "{");

        assertThat(answer.refusal()).isEqualTo("404 NotFound");
    }

    @Test
    void aPatchOfNoOperationsChangesNothing() {
        Answer answer = http.send("PATCH", SLICES + "/s1", "application/json-patch+json", "null");

        assertThat(answer.body()).isEqualTo(http.get(SLICES + "/s1").body());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'kind':'Foo','apiVersion':'resource.k8s.io/v1'} | Foo in version \"v1\" cannot be handled as a ResourceSlice: no kind \"Foo\" is registered for version \"resource.k8s.io/v1\"",
                "{'kind':'ResourceSlice','apiVersion':'g/v7'}     | ResourceSlice in version \"v7\" cannot be handled as a ResourceSlice: no kind",
                "{'kind':'Pod','apiVersion':'v1'}                 | converting (v1.Pod) to (resource.ResourceSlice): unknown conversion",
            })
    void objectsOfOtherKinds(String body, String message) {
        Answer answer = http.post(SLICES, json(body));

        assertThat(answer.refusal()).isEqualTo("400 BadRequest");
        assertThat(answer.message()).contains(message);
    }

    @Test
    void keysOfYamlAreUniqueWhereThatIsWanted() {
        String yaml =
                "metadata:\n  name: a\n  name: b\nspec: {driver: d, nodeName: n, pool: {name: p, resourceSliceCount: 1}}\n";

        Answer strict = http.send("POST", SLICES + "?fieldValidation=Strict", "application/yaml", yaml);
        Answer lax = http.send("POST", SLICES, "application/yaml", yaml);

        assertThat(strict.message())
                .endsWith("strict decoding error: yaml: unmarshal errors:\n  line 3: key \"name\" already set in map");
        assertThat(lax.text("metadata", "name")).isEqualTo("b");
    }

    @Test
    void ofYamlTheFirstDocumentCounts() {
        String yaml =
                "metadata: {name: a}\nspec: {driver: d, nodeName: n, pool: {name: p, resourceSliceCount: 1}}\n---\nmetadata: {name: b}\nspec: [\n";

        Answer answer = http.send("POST", SLICES + "?fieldValidation=Strict", "application/yaml", yaml);

        assertThat(answer.status()).as(answer.message()).isEqualTo(201);
        assertThat(answer.text("metadata", "name")).isEqualTo("a");
    }

    @Test
    void aBodyWithoutTypeIsJson() {
        assertThat(http.send("POST", SLICES, "", slice("s2", 1)).status()).isEqualTo(201);
    }

    @Test
    void aBodyHasALimit() {
        Answer answer = http.post(SLICES, " ".repeat(3 * 1024 * 1024 + 1));

        assertThat(answer.refusal()).isEqualTo("413 RequestEntityTooLarge");
        assertThat(answer.message()).isEqualTo("Request entity too large: limit is 3145728");
    }

    @Test
    void aLongNameIsForTheRulesOfItsField() {
        Answer answer = http.post(SLICES, with("s2", "{'labels':{'%s':'x'}}".formatted("a".repeat(200_000))));

        assertThat(answer.refusal()).isEqualTo("422 Invalid");
        assertThat(answer.message()).contains("metadata.labels: Invalid value: ");
    }

    @Test
    void whatIsDeeperOrLongerThanItReadsIsRefused() {
        String deep = "[".repeat(5_000) + "]".repeat(5_000);
        for (String odd : List.of(deep, "1".repeat(5_000))) {
            Answer answer = http.post(SLICES, slice("s2", 1).replaceFirst("\\{", "{\"odd\":" + odd + ","));

            assertThat(answer.refusal()).as(answer.message()).isEqualTo("400 BadRequest");
        }
    }

    @Test
    void manyWarningsAreCut() throws IOException, InterruptedException {
        ObjectNode object = (ObjectNode) Json.parse(slice("s2", 1));
        for (int i = 0; i < 90; i++) {
            Json.child(object, "spec").put("unknown-" + i + "-".repeat(50), 1);
        }

        HttpRequest request = HttpRequest.newBuilder(server.url().resolve(SLICES))
                .POST(HttpRequest.BodyPublishers.ofString(object.toString()))
                .build();
        HttpResponse<Void> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());

        assertThat(response.statusCode()).isEqualTo(201);
        assertThat(response.headers().allValues("Warning")).hasSizeBetween(40, 60);
    }
}
