// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.NODE;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;

/** A claim of any form, with the allocation that a scheduler would have written. */
final class TestClaim {

    static final ObjectMapper JSON = new ObjectMapper();
    private static final String CLASS = "gpu.example.com";

    private final ObjectNode claim = JSON.createObjectNode();
    private final ArrayNode requests;
    private final ArrayNode results;
    private final ArrayNode configs;

    private TestClaim(String name) {
        claim.put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaim");
        claim.putObject("metadata").put("namespace", "default").put("name", name);
        requests = claim.putObject("spec").putObject("devices").putArray("requests");
        ObjectNode devices = claim.putObject("status").putObject("allocation").putObject("devices");
        results = devices.putArray("results");
        configs = devices.putArray("config");
    }

    static TestClaim named(String name) {
        return new TestClaim(name);
    }

    /** A request, and the devices that it got. */
    TestClaim request(String name, String... devices) {
        ObjectNode exactly = requests.addObject().put("name", name).putObject("exactly");
        exactly.put("deviceClassName", CLASS).put("allocationMode", "ExactCount");
        exactly.put("count", Math.max(1, devices.length));
        for (String device : devices) {
            result(name, device);
        }
        return this;
    }

    /** A request with two alternatives, {@code a} and {@code b}, and the device of one of them. */
    TestClaim alternatives(String name, String chosen, String device) {
        ArrayNode available = requests.addObject().put("name", name).putArray("firstAvailable");
        for (String alternative : new String[] {"a", "b"}) {
            available.addObject().put("name", alternative).put("deviceClassName", CLASS);
        }
        return result(name + "/" + chosen, device);
    }

    TestClaim result(String request, String device) {
        return result(request, DRIVER, NODE, device);
    }

    TestClaim result(String request, String driver, String pool, String device) {
        results.addObject()
                .put("request", request)
                .put("driver", driver)
                .put("pool", pool)
                .put("device", device);
        return this;
    }

    /** Lets the result that was added last have more fields. */
    TestClaim with(String fields) throws IOException {
        ((ObjectNode) results.get(results.size() - 1)).setAll((ObjectNode) JSON.readTree(fields));
        return this;
    }

    TestClaim classConfig(String parameters, String... forRequests) throws IOException {
        return config("FromClass", DRIVER, parameters, forRequests);
    }

    TestClaim claimConfig(String parameters, String... forRequests) throws IOException {
        return config("FromClaim", DRIVER, parameters, forRequests);
    }

    TestClaim config(String source, String driver, String parameters, String... forRequests)
            throws IOException {
        ObjectNode config = configs.addObject().put("source", source);
        ArrayNode names = config.putArray("requests");
        for (String request : forRequests) {
            names.add(request);
        }
        config.putObject("opaque")
                .put("driver", driver)
                .set("parameters", JSON.readTree(parameters));
        return this;
    }

    /** Creates it in the API server. */
    KubeletClaim create(DriverUnderTest driver) {
        if (configs.isEmpty()) {
            ((ObjectNode) claim.at("/status/allocation/devices")).remove("config");
        }
        JsonNode created = driver.api.store().put(claim);
        return new KubeletClaim(
                "default",
                created.at("/metadata/name").asText(),
                created.at("/metadata/uid").asText());
    }

    /** Creates it in the API server, without the allocation. */
    KubeletClaim createUnallocated(DriverUnderTest driver) {
        claim.remove("status");
        JsonNode created = driver.api.store().put(claim);
        return new KubeletClaim(
                "default",
                created.at("/metadata/name").asText(),
                created.at("/metadata/uid").asText());
    }
}
