"""`make soak`: run the robustness targets in full and write lab/soak/report.md."""
