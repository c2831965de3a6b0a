// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import static io.dra4j.runtime.ScenarioSteps.list;
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
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.testkit.Scenarios;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
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
import org.junit.jupiter.params.provider.MethodSource;

class AllocationsTest implements ScenarioSteps {

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

    private static ConfigType<Settings> forType(String type) {
        return SETTINGS.toBuilder().appliesTo(device -> isOfType(device, type)).build();
    }

    private static boolean isOfType(Device device, String type) {
        return AttributeValue.of(type).equals(device.attributes().get("type"));
    }

    private final List<ConfigType<?>> types = new ArrayList<>(List.of(SETTINGS));
    private final List<Result> results = new ArrayList<>();
    private final List<Config> configs = new ArrayList<>();

    private static ConfigType<?> type(String word) {
        ConfigType.Builder<Other> other = ConfigType.builder("gpu.example.com/v1", "Other", Other.class);
        return switch (word) {
            case "settings" -> SETTINGS;
            case "settings-of-gpus" -> forType("gpu");
            case "settings-of-migs" -> forType("mig");
            case "settings-that-add" ->
                SETTINGS.toBuilder()
                        .merge((a, b) -> new Settings(b.mode(), a.count() + b.count(), b.limit()))
                        .build();
            case "settings-from-claims" ->
                SETTINGS.toBuilder().sources(ConfigSource.FROM_CLAIM).build();
            case "settings-that-change-devices" ->
                SETTINGS.toBuilder()
                        .changesDevice(settings -> settings.count() > 1)
                        .build();
            case "other" -> other.build();
            default -> other.appliesTo(device -> isOfType(device, "mig")).build();
        };
    }

    private static String shown(AppliedConfig<?> config) {
        String index = config.source() == ConfigSource.DEFAULT ? "" : " " + config.index();
        if (!(config.value() instanceof Settings value)) {
            return config.source() + index;
        }
        String limit = value.limit() == null ? "null" : value.limit().text();
        return "%s%s %s %s %s".formatted(config.source(), index, value.mode(), value.count(), limit);
    }

    @Override
    public void run(String[] words, String text) {
        List<String> rest = List.of(words).subList(1, words.length);
        ClaimObject claim = object(results, configs.toArray(Config[]::new));
        switch (words[0]) {
            case "kinds" -> {
                types.clear();
                rest.forEach(word -> types.add(type(word)));
            }
            case "allocated" ->
                results.add(new Result(
                        DRIVER, words[1], "node", words[2], null, Map.of(), rest.contains("admin"), Set.of()));
            case "claim", "class" ->
                configs.add(new Config(words[0].equals("class"), rest, DRIVER, settings("," + text)));
            case "claim-of-other-kind", "class-of-other-kind" ->
                configs.add(new Config(
                        words[0].startsWith("class"),
                        rest,
                        DRIVER,
                        "{\"apiVersion\":\"gpu.example.com/v1\",\"kind\":\"Other\"}"));
            case "claim-of-other-driver" -> configs.add(new Config(false, List.of(), "nic.example.com", "nonsense"));
            case "gets" ->
                assertThat(list(read(claim, types.toArray(ConfigType<?>[]::new)).devices().stream()
                                .map(device -> list(
                                        types.stream()
                                                .flatMap(type -> device.findConfig(type).stream())
                                                .map(AllocationsTest::shown),
                                        " and "))))
                        .isEqualTo(text);
            case "refused" ->
                assertThatThrownBy(() -> read(claim, types.toArray(ConfigType<?>[]::new)))
                        .isInstanceOf(PrepareException.class)
                        .hasMessageContaining(text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("configs.txt")
    void aDeviceGetsTheConfigurationsThatFitIt(String scenario) throws Exception {
        play(scenario);
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
            ConfigType<?> older = ConfigType.builder("gpu.example.com/v1beta1", "Settings", Settings.class)
                    .build();
            for (List<ConfigType<?>> types : Arrays.<List<ConfigType<?>>>asList(
                    null, asList(SETTINGS, null), List.of(SETTINGS, SETTINGS), List.of(SETTINGS, older))) {
                assertThatThrownBy(() -> new Allocations(DRIVER, types))
                        .hasMessageStartingWith("DeviceProvider.configTypes() must return each kind once, with a Java")
                        .hasMessageEndingWith("it returned " + types);
            }
            assertThatThrownBy(() -> read(
                            object(List.of(GPU), any),
                            ConfigType.builder("gpu.example.com/v1", "Settings", Closeable.class)
                                    .build()))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("can't be decoded into", "java.io.Closeable");
        }
    }
}
