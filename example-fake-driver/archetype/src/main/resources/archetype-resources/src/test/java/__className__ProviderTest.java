package ${package};

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.device.Pool;
import java.util.List;
import org.junit.jupiter.api.Test;

class ${className}ProviderTest {

    @Test
    void offersTheDevicesOfTheNode() {
        List<Pool> pools = new ${className}Provider("node-1").inventory().pools();

        assertThat(pools).hasSize(1);
        assertThat(pools.get(0).devices())
                .extracting(device -> device.name().toString())
                .containsExactly("device-0", "device-1");
    }
}
