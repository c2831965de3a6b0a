// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class AllocationsTest {

    private static final String DRIVER = "gpu.example.com";
    private static final ClaimRef REF = new ClaimRef("ns", "claim", "uid-1");

    /** A configuration such as a vendor writes one. */
    record Settings(
            @Nullable Mode mode,
            @Nullable Integer count,
            @Nullable Quantity limit,
            @Nullable String note,
            @Nullable Port port) {

        Settings(@Nullable Mode mode, @Nullable Integer count, @Nullable Quantity limit) {
            this(mode, count, limit, null, null);
        }

        /** A component of each kind that has no null, and of those that contain others. */
        record Port(
                int mtu,
                long guid,
                boolean up,
                double load,
                @Nullable List<Integer> lanes,
                @Nullable UUID id,
                @Nullable Map<String, String> labels,
                @Nullable Map<Mode, Map<Integer, String>> names,
                @Nullable Window window,

                @Nullable @JsonDeserialize(using = Odd.class)
                Duration odd) {}

        /** Types that Jackson's annotations describe. */
        record Window(Duration length) {
            @JsonCreator
            static Window of(String text) {
                return new Window(Duration.parse(text));
            }
        }

        static final class Odd extends JsonDeserializer<Duration> {
            @Override
            public Duration deserialize(JsonParser parser, DeserializationContext context) throws IOException {
                context.handleUnknownProperty(parser, this, Duration.class, "kelvin");
                return Duration.ZERO;
            }
        }

        enum Mode {
            Fast,
            Slow
        }
    }

    /** Another kind. */
    record Other() {}

    private static final ConfigType<Settings> SETTINGS = ConfigType.builder(
                    "gpu.example.com/v1", "Settings", Settings.class)
            .defaults(() -> new Settings(null, null, null))
            .normalize(s -> new Settings(
                    s.mode() == null ? Settings.Mode.Slow : s.mode(), s.count() == null ? 1 : s.count(), s.limit()))
            .validate(s -> s.count() < 0 ? List.of("invalid count: " + s.count()) : List.of())
            .build();

    private static final Inventory INVENTORY = Inventory.of(
            Pool.ofNode(
                    "node",
                    List.of(
                            Device.builder("gpu-0").attribute("type", "gpu").build(),
                            Device.builder("mig-0").attribute("type", "mig").build())),
            Pool.publishedElsewhere("rack"));

    private static Result result(String request, String device) {
        return new Result(DRIVER, request, "node", device, null, Map.of(), false, Set.of());
    }

    private static final Result GPU = result("r0", "gpu-0");

    private static Config fromClaim(String json, String... requests) {
        return new Config(false, List.of(requests), DRIVER, json);
    }

    private static Config fromClass(String json, String... requests) {
        return new Config(true, List.of(requests), DRIVER, json);
    }

    private static String settings(String fields) {
        return "{\"apiVersion\":\"gpu.example.com/v1\",\"kind\":\"Settings\"" + fields + "}";
    }

    private static ClaimObject object(List<Result> results, Config... configs) {
        return new ClaimObject(
                "uid-1",
                new Allocation(results, List.of(configs)),
                Map.of("r0", "class-a", "gpu/large", "class-b"),
                "{}");
    }

    private static AllocatedClaim read(ClaimObject object, ConfigType<?>... types) {
        return new Allocations(DRIVER, List.of(types)).read(REF, object, INVENTORY);
    }

    private static AppliedConfig<Settings> applied(Result result, Config... configs) {
        AllocatedDevice device =
                read(object(List.of(result), configs), SETTINGS).devices().get(0);
        return device.config(SETTINGS);
    }

    private static boolean isOfType(Device device, String type) {
        return AttributeValue.of(type).equals(device.attributes().get("type"));
    }

    private static ConfigType<Settings> forType(String type) {
        return SETTINGS.toBuilder().appliesTo(device -> isOfType(device, type)).build();
    }

    @Nested
    class Results {

        @Test
        void nameCapacitiesWithoutTheDriversDomain() {
            Map<String, Quantity> consumed = Map.of(
                    "gpu.example.com/memory", Quantity.of(4),
                    "memory", Quantity.of(1),
                    "other.example.com/memory", Quantity.of(2));
            Result share = new Result(DRIVER, "r0", "rack", "any", "s1", consumed, false, Set.of());

            AllocatedDevice device = read(object(List.of(share))).devices().get(0);

            assertThat(device.consumedCapacity())
                    .isEqualTo(Map.of("memory", Quantity.of(5), "other.example.com/memory", Quantity.of(2)));
            assertThat(new Allocations(DRIVER, List.of()).devices(REF, object(List.of(share))))
                    .containsExactly(device.held());
        }

        @Test
        void ofOtherDriversArePassedOver() {
            Result foreign = new Result("nic.example.com", "r1", "node", "gpu-0", null, Map.of(), false, Set.of());

            AllocatedClaim claim = read(object(List.of(foreign, GPU)));

            assertThat(claim.devices()).hasSize(1);
            assertThat(claim.devices().get(0).request()).isEqualTo("r0");
            assertThat(claim.devices().get(0).deviceClass()).isEqualTo("class-a");
        }

        @Test
        void ofAPrioritizedListTellRequestAndSubrequest() {
            AllocatedDevice device = read(object(List.of(result("gpu/large", "gpu-0"))))
                    .devices()
                    .get(0);

            assertThat(device.request()).isEqualTo("gpu");
            assertThat(device.subrequest()).isEqualTo("large");
            assertThat(device.deviceClass()).isEqualTo("class-b");
        }

        static Stream<Arguments> wrong() {
            Result elsewhere = new Result(DRIVER, "r0", "other", "gpu-0", null, Map.of(), false, Set.of());
            return Stream.of(
                    arguments(
                            new ClaimObject("uid-2", new Allocation(List.of(), List.of()), Map.of(), "{}"),
                            "replaced by another of the same name (UID uid-2)"),
                    arguments(new ClaimObject("uid-1", null, Map.of(), "{}"), "the claim is not allocated"),
                    arguments(object(List.of()), "the claim was allocated no device of driver gpu.example.com"),
                    arguments(object(List.of(elsewhere)), "driver gpu.example.com has no pool other"),
                    arguments(object(List.of(result("r0", "gpu-9"))), "pool node has no device gpu-9"));
        }

        @ParameterizedTest
        @MethodSource("wrong")
        void areOfThisClaimAndDriverAndOfDevicesThatExist(ClaimObject claim, String problem) {
            assertThatThrownBy(() -> read(claim))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageEndingWith(problem);
        }

        @Test
        void ofAPoolThatIsPublishedElsewhereAreTheProvidersToCheck() {
            Result remote = new Result(DRIVER, "r0", "rack", "disk-7", null, Map.of(), false, Set.of());

            assertThat(read(object(List.of(remote))).devices()).hasSize(1);
        }
    }

    @Nested
    class Configs {

        /** Entries, separated by semicolons, are of the claim or the class, may name requests, and have fields. */
        @ParameterizedTest
        @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                r0        |                                                                 | DEFAULT Slow 1 null
                r0        | claim: "mode":"Fast","limit":"2Gi"; class: "count":3            | FROM_CLAIM 0 Fast 1 2Gi
                r0        | claim: "count":1; claim: "count":2                              | FROM_CLAIM 1 Slow 2 null
                r0        | claim: "limit":2                                                | FROM_CLAIM 0 Slow 1 2
                r0        | claim r1: "count":5                                             | DEFAULT Slow 1 null
                r1        | claim r1: "count":5                                             | FROM_CLAIM 0 Slow 5 null
                gpu/large | claim gpu: "count":5                                            | FROM_CLAIM 0 Slow 5 null
                gpu/large | claim gpu/large: "count":5; claim gpu/small: "count":-5         | FROM_CLAIM 0 Slow 5 null
                """)
        void areTheLastForTheRequestOfTheClaimOrElseOfTheClassOrDefaults(
                String request, @Nullable String entries, String chosen) {
            Config[] configs = Stream.ofNullable(entries)
                    .flatMap(all -> Stream.of(all.split("; ")))
                    .map(Configs::entry)
                    .toArray(Config[]::new);

            AppliedConfig<Settings> config = applied(result(request, "gpu-0"), configs);

            String index = config.source() == ConfigSource.DEFAULT ? "" : " " + config.index();
            Settings value = config.value();
            String limit = value.limit() == null ? "null" : value.limit().text();
            assertThat("%s%s %s %s %s".formatted(config.source(), index, value.mode(), value.count(), limit))
                    .isEqualTo(chosen);
        }

        private static Config entry(String text) {
            String[] parts = text.split(": ", 2);
            List<String> words = List.of(parts[0].split(" "));
            boolean isOfClass = words.get(0).equals("class");
            return new Config(isOfClass, words.subList(1, words.size()), DRIVER, settings("," + parts[1]));
        }

        @Test
        void areMergedIfTheTypeSaysSo() {
            ConfigType<Settings> adding = SETTINGS.toBuilder()
                    .merge((a, b) -> new Settings(b.mode(), a.count() + b.count(), b.limit()))
                    .build();
            ClaimObject object =
                    object(List.of(GPU), fromClass(settings(",\"count\":3")), fromClaim(settings(",\"count\":4")));

            AllocatedDevice device = read(object, adding).devices().get(0);

            assertThat(device.config(adding).value().count()).isEqualTo(7);
        }

        @Test
        void areDecodedAlsoIfTheyApplyToNothing() {
            Config passedOver = fromClaim(settings(",\"bogus\":1"), "gpu/small");

            assertThatThrownBy(() -> applied(result("gpu/large", "gpu-0"), passedOver))
                    .hasMessageStartingWith("config 0 from the claim: Settings: unknown field bogus");
        }

        @Test
        void thatAreOverriddenAreNeitherValidatedNorAMisfit() {
            ConfigType<Settings> forGpus = forType("gpu");
            ConfigType<Other> forMigs = ConfigType.builder("gpu.example.com/v1", "Other", Other.class)
                    .appliesTo(device -> isOfType(device, "mig"))
                    .build();
            Config misfit = fromClass("{\"apiVersion\":\"gpu.example.com/v1\",\"kind\":\"Other\"}", "r0");
            Config wrong = fromClass(settings(",\"count\":-1"));
            Config last = fromClaim(settings(",\"count\":2"));

            AllocatedDevice device = read(object(List.of(GPU), last, misfit, wrong), forGpus, forMigs)
                    .devices()
                    .get(0);

            assertThat(device.config(forGpus).value().count()).isEqualTo(2);
            assertThatThrownBy(() -> read(object(List.of(GPU), misfit, wrong), forGpus, forMigs))
                    .hasMessage("config 1 from the class: Settings: invalid count: -1");
            assertThatThrownBy(() -> read(object(List.of(GPU), misfit), forGpus, forMigs))
                    .hasMessage(
                            "config 0 from the class: cannot apply Other to device node/gpu-0 of request r0: it takes configurations of kind Settings");
        }

        @Test
        void areChosenForEachKindThatFitsTheDevice() {
            ConfigType<Other> other = ConfigType.builder("gpu.example.com/v1", "Other", Other.class)
                    .build();
            String json = "{\"apiVersion\":\"gpu.example.com/v1\",\"kind\":\"Other\"}";

            AllocatedDevice device = read(
                            object(List.of(GPU), fromClaim(json), fromClaim(settings(",\"count\":2"))), SETTINGS, other)
                    .devices()
                    .get(0);

            assertThat(device.config(SETTINGS).index()).isEqualTo(1);
            assertThat(device.config(other).index()).isZero();
        }

        @Test
        void thatChangeADeviceAreRefusedForAdminAccessAlsoFromTheClass() {
            ConfigType<Settings> changing = SETTINGS.toBuilder()
                    .changesDevice(settings -> settings.count() > 1)
                    .build();
            Result watched = new Result(DRIVER, "r1", "node", "gpu-0", null, Map.of(), true, Set.of());
            Config two = fromClass(settings(",\"count\":2"));

            assertThatThrownBy(() -> read(object(List.of(GPU, watched), two), changing))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageStartingWith(
                            "config 0 from the class: Settings would change the devices of request r1, which has admin access");
            assertThat(read(object(List.of(GPU), two), changing).devices()).hasSize(1);
            assertThat(read(object(List.of(watched), two, fromClaim(settings(""))), changing)
                            .devices())
                    .hasSize(1);
        }

        @Test
        void thatFitNoAllocatedDeviceAreIgnoredAlsoIfTheyWouldNotValidate() {
            ConfigType<Settings> forMigs = forType("mig");

            AllocatedDevice device = read(object(List.of(GPU), fromClaim(settings(",\"count\":-1"))), forMigs)
                    .devices()
                    .get(0);

            assertThat(device.configs()).isEmpty();
        }

        @Test
        void thatAreMergedAreEachValidated() {
            ConfigType<Settings> last = SETTINGS.toBuilder().merge((a, b) -> b).build();
            ClaimObject object =
                    object(List.of(GPU), fromClaim(settings(",\"count\":-1")), fromClaim(settings(",\"count\":1")));

            assertThatThrownBy(() -> read(object, last))
                    .hasMessage("config 0 from the claim: Settings: invalid count: -1");
        }

        @Test
        void ofOtherDriversAreNotRead() {
            Config foreign = new Config(false, List.of(), "nic.example.com", "nonsense");

            assertThat(applied(GPU, foreign).source()).isEqualTo(ConfigSource.DEFAULT);
        }

        @Test
        void thatDoNotFitASkippedDeviceAreAnErrorOnlyIfTheyNameItsRequest() {
            ConfigType<Settings> forGpus = forType("gpu");
            List<Result> both = List.of(GPU, result("r1", "mig-0"));

            List<AllocatedDevice> devices = read(object(both, fromClaim(settings(",\"count\":5"))), forGpus)
                    .devices();
            assertThat(devices.get(0).findConfig(forGpus)).isPresent();
            assertThat(devices.get(1).findConfig(forGpus)).isEmpty();

            ClaimObject named = object(both, fromClaim(settings(""), "r1"));
            assertThatThrownBy(() -> read(named, forGpus))
                    .hasMessage(
                            "config 0 from the claim: cannot apply Settings to device node/mig-0 of request r1: it takes no configurations");
        }

        @Test
        void fromASourceThatIsNotAllowedAreAnError() {
            ConfigType<Settings> forUsers =
                    SETTINGS.toBuilder().sources(ConfigSource.FROM_CLAIM).build();
            ClaimObject object = object(List.of(GPU), fromClass(settings("")));

            assertThatThrownBy(() -> read(object, forUsers))
                    .hasMessage("config 0 from the class: Settings is not allowed in a class");
        }

        @ParameterizedTest
        @CsvFileSource(
                files = "src/test/resources/io/dra4j/runtime/internal/claim/allocation/invalid-settings.csv",
                delimiter = '|',
                quoteCharacter = '`')
        void thatAreNotValidAreAnErrorThatNamesEntryAndField(String fields, String problem) {
            assertThatThrownBy(() -> applied(GPU, fromClaim(fields.startsWith("{") ? fields : settings(fields))))
                    .isInstanceOf(PrepareException.class)
                    .hasMessageStartingWith("config 0 from the claim: " + problem)
                    .hasMessageNotContainingAny("java", "dra4j", "jackson", "type", "JsonNode");
        }

        @Test
        void areAskedForByKindsThatTheDriverDeclaresAlone() {
            ConfigType<Other> undeclared = ConfigType.builder("gpu.example.com/v1", "Other", Other.class)
                    .defaults(Other::new)
                    .build();
            AllocatedDevice device =
                    read(object(List.of(GPU)), SETTINGS).devices().get(0);

            assertThatThrownBy(() -> device.config(undeclared))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("DeviceProvider.configTypes() does not return gpu.example.com/v1 Other, which was"
                            + " requested; it returns [gpu.example.com/v1 Settings]");
            assertThatThrownBy(() -> device.toBuilder().build().findConfig(undeclared))
                    .isInstanceOf(IllegalStateException.class);
        }

        @Test
        void areDeclaredOnceByTheDriverWithATypeThatCanBeDecoded() {
            Config any = fromClaim(settings(""));

            for (List<ConfigType<?>> types :
                    Arrays.<List<ConfigType<?>>>asList(null, asList(SETTINGS, null), List.of(SETTINGS, SETTINGS))) {
                assertThatThrownBy(() -> new Allocations(DRIVER, types))
                        .hasMessage("DeviceProvider.configTypes() must return each kind once, and no null; it returned "
                                + types);
            }
            assertThatThrownBy(() -> read(
                            object(List.of(GPU), any),
                            ConfigType.builder("gpu.example.com/v1", "Settings", Closeable.class)
                                    .build()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("can't be decoded into", "java.io.Closeable");
        }

        @Test
        void ofADriverWithoutKindsAreAnError() {
            assertThatThrownBy(() -> read(object(List.of(GPU), fromClaim(settings("")))))
                    .hasMessageContaining("does not know the kind \"gpu.example.com/v1 Settings\"; it knows none");
        }
    }
}
