"""Route quality never falls: outputs of earlier versions, recorded, on generated and on recorded markets."""
