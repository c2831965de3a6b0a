package ${package};

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.runtime.SlicePreview;
import io.dra4j.test.AllocatedClaims;
import io.dra4j.test.RecordingClaimContext;
import org.junit.jupiter.api.Test;

class ${className}ProviderTest {

    private final ${className}Provider provider = new ${className}Provider("node-1");

    @Test
    void offersWhatCanBePublished() {
        assertThat(SlicePreview.problems(provider.inventory())).isEmpty();
    }

    @Test
    void tellsAContainerWhichDeviceItHas() throws Exception {
        AllocatedClaim claim =
                AllocatedClaims.of("${driverName}", provider).device("device-1").build();

        PreparedClaim prepared = provider.prepare(claim, new RecordingClaimContext());

        assertThat(prepared.devices().get(0).edits().env()).containsEntry("DEVICE_1", "allocated");
    }
}
