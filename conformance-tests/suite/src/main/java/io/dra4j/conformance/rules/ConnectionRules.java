// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.Silence;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.util.regex.Pattern;

/** Connections to the API server that go silent, as behind a load balancer that has forgotten them. */
@ExecutionGroup.On(ExecutionGroup.CONNECTIONS)
record ConnectionRules(TestContext context) {

    /** Requests of client-go, by the media types that it accepts: its user agent is the driver's choice. */
    private static final Pattern CLIENT_GO_WITHOUT_PINGS =
            Pattern.compile("HTTP/1\\.1 .*\\[application/(json, \\*/\\*|vnd\\.kubernetes\\.protobuf.*)]");

    @Rule("DRA-PREP-37")
    void aPrepareOutlivesASilentConnection() {
        Silence seen = context.shared(Silence.class, () -> Silence.of(context));
        NotApplicable.unless(seen.reads(), "the driver prepares a claim without a request to the API server");
        judge(seen.prepared(), "while a prepare waited, and the claim is not prepared");
    }

    @Rule("DRA-SLICE-22")
    void aSilentWatchIsNoticed() throws InterruptedException {
        Silence seen = context.shared(Silence.class, () -> Silence.of(context));
        NotApplicable.unless(seen.watches(), "the driver watches no ResourceSlices");
        Silence.End end = seen.repaired().join();
        if (!end.fault().isEmpty()) {
            new Publishing(context).repair(seen.before());
        }
        judge(end, "its watch included, and a slice that another client deleted then is not back");
    }

    static boolean lacksPings(RecordedRequest request) {
        return CLIENT_GO_WITHOUT_PINGS.matcher(request.client()).matches();
    }

    /** By plain HTTP, as external drivers have it, client-go lacks HTTP/2 and its pings. */
    private void judge(Silence.End end, String what) {
        context.measurements().add(end.took());
        Untested.unless(
                end.fault().isEmpty()
                        || context.proxy().requests(ConnectionRules::lacksPings).isEmpty(),
                "the driver speaks HTTP/1.1 here: client-go finds silent connections by pings of HTTP/2, as in clusters");
        Violation.unless(end.fault().isEmpty())
                .because(
                        "all connections of the driver to the API server went silent, %s %d s later: %s",
                        what, context.timeouts().silence().toSeconds(), end.fault());
    }
}
