// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.Trees.repeat;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FieldErrors.FieldError;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The status of an allocated claim. */
class ClaimStatusRulesTest {

    private static List<FieldError> check(String ofResult, String consumers) {
        ObjectNode claim = tree(
                "{'spec':{'devices':{'requests':[{'name':'r'}]}},'status':{'reservedFor':[%s],'allocation':{'devices':{'results':[{'request':'r','driver':'d.com','pool':'p','device':'d'%s}]}}}}"
                        .formatted(consumers, ofResult));
        FieldErrors errors = new FieldErrors();
        ClaimStatusRules.check(claim, tree("{}"), KubernetesVersion.newest(), errors);
        return errors.all();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'resource':'pods','name':'p','uid':'1'}",
                "{'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g','uid':'1'}",
                "{'resource':'pods','name':'p','uid':'1'},"
                        + "{'apiGroup':'scheduling.k8s.io','resource':'podgroups','name':'g','uid':'2'}"
            })
    void itMayBeReservedForPodsAndForPodGroups(String consumers) {
        assertThat(check("", consumers)).isEmpty();
    }

    @Test
    void aConsumerHasAResourceANameAndAUid() {
        assertThat(check("", "{'apiGroup':'scheduling.k8s.io'}"))
                .extracting(FieldError::field)
                .containsExactly(
                        "status.reservedFor[0].resource", "status.reservedFor[0].name", "status.reservedFor[0].uid");
    }

    @Test
    void aResultMayLeaveOutCallsOfTheKubelet() {
        String field = "status.allocation.devices.results[0].skipNodeOperations";

        assertThat(check(",'skipNodeOperations':['*']", "")).isEmpty();
        assertThat(check(",'skipNodeOperations':['NodePrepareResources']", ""))
                .singleElement()
                .returns(field, FieldError::field);
    }

    @Test
    void aNewAllocationIsForRequestsOfTheClaim() {
        assertThat(check(",'request':'r/s'", ""))
                .singleElement()
                .returns("status.allocation.devices.results[0].request", FieldError::field)
                .returns("FieldValueInvalid", FieldError::reason);
        assertThat(check(",'tolerations':[{}]", ""))
                .extracting(FieldError::field)
                .containsExactly("status.allocation.devices.results[0].tolerations[0].operator");
        assertThat(check(",'bindingConditions':['a']", ""))
                .extracting(FieldError::field)
                .containsExactly("status.allocation.devices.results[0].bindingFailureConditions");
        assertThat(check(",'consumedCapacity':{'memory':'1','a.com/b/c':'1'}", ""))
                .extracting(FieldError::field)
                .containsExactly("status.allocation.devices.results[0].consumedCapacity");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {'opaque':{'driver':'d.com','parameters':{}}}                     | source: Required value
                    {'source':'From','opaque':{'driver':'d.com','parameters':{}}}     | source: Unsupported value: "From": supported values: "FromClaim", "FromClass"
                    {'source':'FromClass'}                                            | opaque: Required value
                    {'source':'FromClaim','requests':['x'],'opaque':{'driver':'d.com','parameters':{}}} | requests[0]: Invalid value: "x": must be the name of
                    """)
    void aConfigurationOfAnAllocationHasASource(String config, String message) {
        String allocation = "{'allocation':{'devices':{'config':[" + config + "]}}}";

        assertThat(check(tree("{}"), tree(allocation), false))
                .singleElement()
                .asString()
                .startsWith("status.allocation.devices.config[0]." + message);
    }

    @Test
    void anAllocationMayBeTakenAwayButNotChanged() {
        ObjectNode one = tree("{'allocation':{'devices':{'results':[{'device':'-'}]}}}");
        ObjectNode other = tree("{'allocation':{'devices':{'results':[]}}}");

        assertThat(check(one, one, false)).isEmpty();
        assertThat(check(one, tree("{}"), false)).isEmpty();
        assertThat(check(one, other, false))
                .singleElement()
                .asString()
                .startsWith("status.allocation: Invalid value: ")
                .endsWith("field is immutable");
    }

    @Test
    void onlyAnAllocatedClaimThatIsNotBeingDeletedIsReserved() {
        String user = "{'resource':'pods','name':'%s','uid':'%s'}";
        ObjectNode one = tree("{'reservedFor':[" + user.formatted("a", "1") + "]}");
        ObjectNode allocated = tree("{'allocation':{}}").setAll(one);
        ObjectNode none = tree("{'allocation':{}}");

        assertThat(check(tree("{}"), one, false))
                .containsExactly("status.reservedFor: Forbidden: may not be specified when `allocated` is not set");
        assertThat(check(none, allocated, false)).isEmpty();
        assertThat(check(allocated, allocated, true)).isEmpty();
        assertThat(check(allocated, none, true)).isEmpty();
        assertThat(check(none, allocated, true))
                .containsExactly(
                        "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set");
    }

    private static List<String> check(ObjectNode old, ObjectNode next, boolean deleting) {
        ObjectNode claim = tree("{'spec':{'devices':{'requests':[{'name':'r'}]}}}");
        if (deleting) {
            claim.putObject("metadata").put("deletionTimestamp", "2026-01-01T00:00:00Z");
        }
        FieldErrors errors = new FieldErrors();
        ClaimRules.checkStatus(
                claim.set("status", next),
                (ObjectNode) tree("{}").set("status", old),
                KubernetesVersion.newest(),
                errors);
        return errors.all().stream().map(FieldError::toString).toList();
    }

    /** Reports of drivers on the devices of a claim that was allocated d, and a share of s. */
    @Nested
    class Reports {

        private static final String SHARE = "22222222-0000-4000-8000-00000000000a";

        private static List<String> check(String... devices) {
            String status =
                    "{'status':{'allocation':{'devices':{'results':[{'driver':'d.com','pool':'p','device':'d'},{'driver':'d.com','pool':'p','device':'s','shareID':'%s'}]}},'devices':[%s]}}"
                            .formatted(SHARE, String.join(",", devices));
            FieldErrors errors = new FieldErrors();
            ClaimRules.checkStatus(tree(status), tree(status), KubernetesVersion.newest(), errors);
            return errors.all().stream().map(FieldError::toString).toList();
        }

        private static String device(String more) {
            return "{'driver':'d.com','pool':'p','device':'d'" + more + "}";
        }

        private static String condition(String type, String more) {
            return "{'type':'%s','status':'True','reason':'Ok','message':'','lastTransitionTime':'2026-01-01T00:00:00Z'%s}"
                    .formatted(type, more);
        }

        @Test
        void aReportOfAllocatedDevicesIsAccepted() {
            String network =
                    ",'networkData':{'interfaceName':'net1','ips':['10.1.2.3/24','2001:db8::1/64'],'hardwareAddress':'02:00:00:00:00:01'}";
            String conditions = ",'conditions':[" + condition("a.com/Ready", "") + "]";

            assertThat(check(device(network + conditions + ",'data':{'a':1}"))).isEmpty();
            assertThat(check(device("").replace("'d'", "'s'").replace("}", "") + ",'shareID':'" + SHARE + "'}"))
                    .isEmpty();
        }

        @Test
        void aDeviceIsAllocatedAndReportedOnce() {
            String other = device("").replace("'d'", "'x'");
            String shown = "{\"Driver\":\"d.com\",\"Pool\":\"p\",\"Device\":\"%s\",\"ShareID\":\"\"}";

            assertThat(check(device(""), other, device("")))
                    .containsExactly(
                            "status.devices[1]: Invalid value: "
                                    + shown.formatted("x")
                                    + ": must be an allocated device in the claim",
                            "status.devices[2]: Duplicate value: " + shown.formatted("d"));
        }

        @ParameterizedTest
        @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                        'data':[1]                               | data: Invalid value: "<value omitted>": must be a valid JSON object
                        'networkData':{'ips':['010.1.2.3/24']}   | networkData.ips[0]: Invalid value: "010.1.2.3/24": must be in canonical form ("10.1.2.3/24")
                        'networkData':{'ips':['x']}              | networkData.ips[0]: Invalid value: "x": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)
                        'networkData':{'ips':['::/0','::/0']}    | networkData.ips[1]: Duplicate value: "::/0"
                        """)
        void aBrokenReportIsRefused(String report, String message) {
            assertThat(check(device("," + report))).containsExactly("status.devices[0]." + message);
        }

        @Test
        void lengthsAreLimited() {
            String data = ",'data':{'a':'" + "x".repeat(10 * 1024) + "'}";
            String ips = repeat(",", 17, i -> "'x'");
            String network = ",'networkData':{'interfaceName':'%s','hardwareAddress':'%s','ips':[%s]}"
                    .formatted("i".repeat(257), "h".repeat(129), ips);

            assertThat(check(device(data + network)))
                    .containsExactly(
                            "status.devices[0].data: Too long: may not be more than 10240 bytes",
                            "status.devices[0].networkData.interfaceName: Too long: may not be more than 256 bytes",
                            "status.devices[0].networkData.hardwareAddress: Too long: may not be more than 128 bytes",
                            "status.devices[0].networkData.ips: Too many: 17: must have at most 16 items");
        }

        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/rules/a-broken-condition-is-refused.csv",
                delimiter = '|',
                quoteCharacter = '`')
        void aBrokenConditionIsRefused(String change, String message) {
            assertThat(check(device(",'conditions':[" + condition("Ready", "," + change) + "]")))
                    .singleElement()
                    .asString()
                    .startsWith("status.devices[0].conditions[0]." + message);
        }

        @Test
        void thereAreAtMostEightConditionsWithTypesOfTheirOwn() {
            String twice = condition("Ready", "") + "," + condition("Ready", "");
            String nine = repeat(",", 9, i -> condition("t" + i, ""));

            assertThat(check(device(",'conditions':[" + twice + "]")))
                    .containsExactly("status.devices[0].conditions[1].type: Duplicate value: \"Ready\"");
            assertThat(check(device(",'conditions':[" + nine + "]")))
                    .containsExactly("status.devices[0].conditions: Too many: 9: must have at most 8 items");
        }

        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/rules/the-id-of-a-share-is-a-uuid.csv",
                delimiter = '|',
                quoteCharacter = '`')
        void theIdOfAShareIsAUuid(String id, String message) {
            String share = id == null ? "" : id;

            assertThat(check(device(",'shareID':'" + share + "'")))
                    .first()
                    .asString()
                    .startsWith("status.devices[0].shareID: Invalid value: \"" + share + "\": " + message);
        }
    }
}
