// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.HttpProbe.Answer;
import io.dra4j.testkit.apiserver.model.Json;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Admin access to devices, which the namespaces "on" and "default" give and do not give. */
class AdminAccessIT {
    private static final String SPEC =
            "{'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'c'}},{'name':'a','exactly':{'deviceClassName':'c','adminAccess':%s}}]}}";
    private static final String REFUSED =
            "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";

    @AutoClose
    private final EmbeddedApiServer server = EmbeddedApiServer.builder().start();

    private final HttpProbe http = new HttpProbe(server);

    @BeforeEach
    void makeNamespaces() {
        makeNamespace("on", "true");
        makeNamespace("maybe", "True");
    }

    private void makeNamespace(String name, String label) {
        ObjectNode namespace = tree("{'apiVersion':'v1','kind':'Namespace'}");
        Json.metadata(namespace)
                .put("name", name)
                .putObject("labels")
                .put("resource.kubernetes.io/admin-access", label);
        server.store().put(namespace);
    }

    private static String collection(String namespace, String plural) {
        return "/apis/resource.k8s.io/v1/namespaces/" + namespace + "/" + plural;
    }

    private Answer create(String namespace, String plural, String spec) {
        return http.post(
                collection(namespace, plural),
                tree("{'metadata':{'name':'x'},'spec':" + spec + "}").toString());
    }

    @ParameterizedTest
    @CsvSource({"on,true,201", "default,false,201", "default,true,422", "maybe,true,422"})
    void isWantedByAClaimInALabelledNamespace(String namespace, String admin, int status) {
        Answer answer = create(namespace, "resourceclaims", SPEC.formatted(admin));

        assertThat(answer.status()).isEqualTo(status);
        if (status == 422) {
            assertThat(answer.message()).endsWith("spec.devices.requests[1].adminAccess: " + REFUSED);
        }
    }

    @ParameterizedTest
    @CsvSource({"on,201", "default,422"})
    void isWantedByATemplateInALabelledNamespace(String namespace, int status) {
        String spec = "{'spec':" + SPEC.formatted("true") + "}";

        Answer answer = create(namespace, "resourceclaimtemplates", spec);

        assertThat(answer.status()).isEqualTo(status);
        if (status == 422) {
            assertThat(answer.message()).endsWith("spec.devices.requests[1].adminAccess: " + REFUSED);
        }
    }

    @ParameterizedTest
    @CsvSource({"on,true,200", "default,false,200", "default,true,422"})
    void isAllocatedInALabelledNamespace(String namespace, String admin, int status) {
        Answer answer = allocate(namespace, admin);

        assertThat(answer.status()).isEqualTo(status);
        if (status == 422) {
            assertThat(answer.message()).endsWith("status.allocation.devices.results[0].adminAccess: " + REFUSED);
        }
    }

    private Answer allocate(String namespace, String admin) {
        ObjectNode claim =
                create(namespace, "resourceclaims", SPEC.formatted("false")).body();
        claim.set(
                "status",
                tree(
                        "{'allocation':{'devices':{'results':[{'request':'r','driver':'d.com','pool':'p','device':'d','adminAccess':%s}]}}}"
                                .formatted(admin)));
        return http.put(collection(namespace, "resourceclaims") + "/x/status", claim.toString());
    }

    @Test
    void staysAllocatedWhenTheLabelIsGone() {
        ObjectNode claim = allocate("on", "true").body();
        makeNamespace("on", "false");
        claim.withObject("/status")
                .putArray("reservedFor")
                .addObject()
                .put("resource", "pods")
                .put("name", "p")
                .put("uid", "u");

        Answer answer = http.put(collection("on", "resourceclaims") + "/x/status", claim.toString());

        assertThat(answer.status()).isEqualTo(200);
    }
}
